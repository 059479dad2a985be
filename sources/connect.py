"""Connections to sources: short, bounded in time, and read-only unless a named write asks for more.

Settings are made inside the transaction, not when connecting: a pooler between us and the source would refuse them
there, or give them to somebody else.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow

from dashboard.database.base import PatientConnection
from sources.base import SourceError

Connection = PatientConnection
Cursor = psycopg.Cursor[TupleRow]

CONNECT_SECONDS = 3
# A server that hangs does not keep the limits that it was given; so much longer it is waited for, and then given up.
HANGING_SECONDS = 5.0
# What a source's own people see in pg_stat_activity.
APPLICATION_NAME = "redrive"
PORTS = re.compile(r"[0-9,]*")
# One round trip; times without a zone are taken for UTC.
LIMITS = """
SELECT set_config('statement_timeout', %(statement)s, true), set_config('lock_timeout', %(lock)s, true),
       set_config('idle_in_transaction_session_timeout', %(idle)s, true), set_config('TimeZone', 'UTC', true),
       set_config('bytea_output', 'hex', true)
"""
READ_ONLY = LIMITS + ", set_config('transaction_read_only', 'on', true)"

# The connection, or the whole server: starting, stopping, out of connections.
AWAY = ("08", "57P", "53300")
# The driver says so twice.
PREFIX = re.compile(r"^connection (failed|is bad): (?=connection to )")
# What a server says that answers and lets nobody in; when connecting, the driver has no code for it. One that speaks
# another language is taken for away, and its words are shown all the same.
TURNED_AWAY = re.compile(
    r"(role|database) \".*\" does not exist|authentication failed|no password supplied|no pg_hba\.conf entry"
    r"|is not permitted to log in|permission denied for database"
)
# Somebody must change something before these go away by themselves.
PERMANENT = (
    errors.InsufficientPrivilege,
    errors.UndefinedTable,
    errors.UndefinedColumn,
    errors.UndefinedFunction,
    errors.InvalidSchemaName,
    errors.InvalidCatalogName,
    errors.InvalidPassword,
    errors.InvalidAuthorizationSpecification,
    errors.DatatypeMismatch,
    errors.InvalidTextRepresentation,
)


def is_address(dsn: str) -> bool:
    """Whether it says where to connect; if not, the driver's errors would repeat the password or parts of it."""
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        return False
    host, port, database = (str(parts.get(name, "")) for name in ("host", "port", "dbname"))
    # A password with / or @ moves what stands behind it into these.
    return "@" not in host + database and PORTS.fullmatch(port) is not None


@contextmanager
def connect(dsn: str) -> Iterator[Connection]:
    """A connection for one visit; what goes wrong with it is a SourceError."""
    with explained():
        connection = PatientConnection.connect(
            dsn,
            autocommit=True,
            connect_timeout=CONNECT_SECONDS,
            tcp_user_timeout=10_000,
            application_name=APPLICATION_NAME,
            # Not the database's own: that may hold no name of ours, or tell nobody how its text is to be read.
            client_encoding="UTF8",
            # A pooler may give each transaction another backend, which knows none of our prepared statements.
            prepare_threshold=None,
        )
        with connection:
            yield connection


@contextmanager
def reading(connection: Connection, *, seconds: float) -> Iterator[Cursor]:
    """A read-only transaction in which no statement takes longer."""
    with transaction(connection, READ_ONLY, seconds) as cursor:
        yield cursor


@contextmanager
def writing(connection: Connection, *, seconds: float) -> Iterator[Cursor]:
    """A transaction for one of the few named writes."""
    with transaction(connection, LIMITS, seconds) as cursor:
        yield cursor


@contextmanager
def transaction(connection: Connection, limits: str, seconds: float) -> Iterator[Cursor]:
    milliseconds = str(int(1000 * seconds))
    connection.patience_seconds = seconds + HANGING_SECONDS
    with explained(), connection.transaction(), connection.cursor() as cursor:
        # A lock is somebody else's work: we give way long before our own time is over.
        values = {"statement": milliseconds, "lock": str(int(500 * seconds)), "idle": milliseconds}
        cursor.execute(limits, values)
        yield cursor


@contextmanager
def explained() -> Iterator[None]:
    """Turn what the driver raises into a sentence, and say whether trying again can help."""
    try:
        yield
    except psycopg.Error as error:
        raise explain(error) from error


def explain(error: psycopg.Error) -> SourceError:
    said = tidy(error)
    if isinstance(error, errors.QueryCanceled):
        return SourceError("A statement took too long and was given up.", permanent=False)
    if isinstance(error, errors.LockNotAvailable):
        return SourceError("Somebody holds a lock that did not come free in time.", permanent=False)
    if isinstance(error, PERMANENT) or (error.sqlstate is None and TURNED_AWAY.search(said)):
        return SourceError(f"It refuses: {said}", permanent=True)
    if error.sqlstate is None or error.sqlstate.startswith(AWAY):
        return SourceError(f"It cannot be reached: {said}", permanent=False)
    return SourceError(f"It failed: {said}", permanent=False)


def tidy(error: psycopg.Error) -> str:
    """The first line that says something; the driver adds hints and the statement below it."""
    lines: list[Any] = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (PREFIX.sub("", lines[0]) if lines else type(error).__name__)[:500]
