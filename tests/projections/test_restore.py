"""A dump restored into a fresh server: positions go on where they were, and consumers with them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import psycopg
import pytest

from dashboard.embedded import postgres
from dashboard.embedded.addresses import database_url, socket_dir
from dashboard.embedded.guard import Guard
from dashboard.embedded.log import Log
from dashboard.embedded.supervisor import Supervisor
from projections.models import Projection
from tests.processes import ROOT, Process, this_database_url
from tests.wait import until

APPEND = """
from projections.api import NewEvent, append
append("a", [NewEvent("Paid", {"amount": 5})], expected_version=4)
"""


@pytest.fixture
def fresh_server(tmp_path: Path) -> Iterator[str]:
    """The address of an empty Postgres of the test's own."""
    with Supervisor(Log(StringIO()), Guard()) as supervisor:
        postgres.prepare(tmp_path, durable=False)
        supervisor.start(postgres.program(tmp_path, durable=False))
        supervisor.wait_until(lambda: postgres.is_ready(tmp_path), 60)
        yield database_url(tmp_path)
    shutil.rmtree(socket_dir(tmp_path), ignore_errors=True)


def test_consumers_go_on_after_a_restore(
    tmp_path: Path, pay: Callable[..., int], work: Callable[..., Projection], fresh_server: str
) -> None:
    pay("a", 1, 2, 3)
    work("letters")
    pay("a", 4)
    binaries = Path(postgres.program(tmp_path).command[0]).parent
    dump = subprocess.run([binaries / "pg_dump", this_database_url()], check=True, capture_output=True).stdout
    restore = [binaries / "psql", "--quiet", "--set=ON_ERROR_STOP=1", fresh_server]
    subprocess.run(restore, input=dump, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", APPEND],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": fresh_server},
        check=True,
    )
    consumer = Process(
        "manage.py", "consume", "letters", log=tmp_path / "consume.log", DATABASE_URL=fresh_server
    )
    try:
        with psycopg.connect(fresh_server, autocommit=True) as restored:
            until(
                lambda: (
                    get(restored, "SELECT position FROM projections_projection WHERE name = 'letters'") == 5
                )
            )
            assert get(restored, "SELECT array_agg(position ORDER BY id) FROM shop_applied") == [
                1,
                2,
                3,
                4,
                5,
            ]
    finally:
        consumer.kill()


def get(connection: psycopg.Connection, statement: str) -> object:
    row = connection.execute(statement).fetchone()  # type: ignore[arg-type]
    return row[0] if row else None
