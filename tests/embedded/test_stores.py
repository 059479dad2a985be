import contextlib
import signal
import subprocess
import threading
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from types import ModuleType

import psutil
import psycopg
import pytest
import redis

from dashboard.embedded import postgres, valkey
from dashboard.embedded.addresses import database_url, make_socket_dir, redis_url
from dashboard.embedded.errors import EmbeddedError
from dashboard.embedded.program import GO
from dashboard.embedded.supervisor import Supervisor
from tests.wait import until


def start(supervisor: Supervisor, data_dir: Path) -> None:
    for store in postgres, valkey:
        store.prepare(data_dir)
        supervisor.start(store.program(data_dir))
    supervisor.wait_until(lambda: postgres.is_ready(data_dir) and valkey.is_ready(data_dir), 60)


def write(data_dir: Path) -> None:
    with psycopg.connect(database_url(data_dir)) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 'in Postgres' AS text")
    with redis.Redis.from_url(redis_url(data_dir)) as client:
        client.set("kept", "in Valkey")


def read(data_dir: Path) -> list[str]:
    with (
        psycopg.connect(database_url(data_dir)) as connection,
        redis.Redis.from_url(redis_url(data_dir)) as client,
    ):
        row = connection.execute("SELECT text FROM kept").fetchone()
        return [row[0] if row else "", (client.get("kept") or b"").decode()]


def find_server(directory: Path) -> psutil.Process:
    """The first process of the server that works there."""
    alive = [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]
    [server] = [child for child in alive if child.cwd() == str(directory)]
    return server


def test_data_survives_a_stop(data_dir: Path, start_supervisor: Callable[[], Supervisor]) -> None:
    first = start_supervisor()
    start(first, data_dir)
    write(data_dir)
    first.stop()
    assert not postgres.is_ready(data_dir)
    assert not valkey.is_ready(data_dir)
    start(start_supervisor(), data_dir)
    assert read(data_dir) == ["in Postgres", "in Valkey"]


def test_postgres_comes_back_after_kill_9_though_a_query_outlives_it(
    data_dir: Path, supervisor: Supervisor
) -> None:
    start(supervisor, data_dir)
    write(data_dir)

    def stay_busy() -> None:
        with (
            contextlib.suppress(psycopg.OperationalError),
            psycopg.connect(database_url(data_dir)) as connection,
        ):
            connection.execute("SELECT count(*) FROM generate_series(1, 1e12)")

    query = threading.Thread(target=stay_busy, daemon=True)
    query.start()
    server = find_server(data_dir / "postgres")
    until(lambda: any("SELECT" in " ".join(backend.cmdline()) for backend in server.children()))
    server.kill()
    query.join(timeout=30)
    until(lambda: postgres.is_ready(data_dir))
    assert read(data_dir) == ["in Postgres", "in Valkey"]


def test_valkey_comes_back_after_kill_9(data_dir: Path, supervisor: Supervisor, output: StringIO) -> None:
    start(supervisor, data_dir)
    write(data_dir)
    find_server(data_dir / "valkey").kill()
    until(lambda: "valkey died (SIGKILL); starting it again." in output.getvalue())
    until(lambda: valkey.is_ready(data_dir))
    assert read(data_dir) == ["in Postgres", "in Valkey"]


@pytest.mark.parametrize("store", [postgres, valkey])
def test_a_server_that_nobody_watches_is_ended_before_another_starts(
    store: ModuleType, data_dir: Path, supervisor: Supervisor
) -> None:
    store.prepare(data_dir)
    with subprocess.Popen(store.program(data_dir).launch_command, stdin=subprocess.PIPE) as leftover:
        assert leftover.stdin is not None
        leftover.stdin.write(GO)
        leftover.stdin.close()
        until(lambda: store.is_ready(data_dir))
        supervisor.start(store.program(data_dir))
        assert leftover.wait(timeout=30) == -signal.SIGKILL
    until(lambda: store.is_ready(data_dir))


def test_postgres_starts_though_somebody_else_has_the_process_id_of_one_that_was_killed(
    data_dir: Path, supervisor: Supervisor
) -> None:
    postgres.prepare(data_dir, durable=False)
    with subprocess.Popen(["sleep", "1000"]) as somebody:
        socket = make_socket_dir(data_dir) / ".s.PGSQL.5432"
        lines = [somebody.pid, data_dir / "postgres", 0, 5432, socket.parent, ""]
        for lock in data_dir / "postgres/postmaster.pid", Path(f"{socket}.lock"):
            lock.write_text("".join(f"{line}\n" for line in lines))
            lock.chmod(0o600)
        try:
            supervisor.start(postgres.program(data_dir, durable=False))
            supervisor.wait_until(lambda: postgres.is_ready(data_dir), 60)
        finally:
            somebody.kill()


def test_a_half_made_directory_is_removed(data_dir: Path) -> None:
    half = data_dir / "postgres.new.half"
    half.mkdir()
    postgres.prepare(data_dir, durable=False)
    assert not half.exists()
    assert (data_dir / "postgres" / "PG_VERSION").exists()


def test_the_directory_of_another_postgres_is_one_sentence(data_dir: Path) -> None:
    (data_dir / "postgres").mkdir()
    (data_dir / "postgres" / "PG_VERSION").write_text("13\n")
    with pytest.raises(
        EmbeddedError, match=r"was made by Postgres 13, and this Redrive brings Postgres 18; .*\.$"
    ):
        postgres.prepare(data_dir)
