"""The consumer's lock: live consumption, replay and rebuild write the same read model, and never at once.

It is a lock of the transaction, not of the session, so it is safe behind pgbouncer, and a dead process leaves none.
"""

from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

# The first of two keys; any number that nobody else uses. Two names with one hash would only wait for each other.
LOCK_CLASS = 0x70726F6A

TRY = "SELECT pg_try_advisory_xact_lock(%s, hashtext(%s))"
EXCLUSIVE = "SELECT pg_advisory_xact_lock(%s, hashtext(%s))"
SHARED = "SELECT pg_advisory_xact_lock_shared(%s, hashtext(%s))"
LIMIT = "SELECT set_config('lock_timeout', %s, true)"


def lock_consumer(name: str, *, shared: bool = False) -> None:
    """Wait for the lock and hold it until the transaction ends; shared only among replays by sequence."""
    with connection.cursor() as cursor:
        cursor.execute(SHARED if shared else EXCLUSIVE, [LOCK_CLASS, name])


def lock_consumer_within(name: str, seconds: float) -> bool:
    """Wait in line so long at most, since a batch may take minutes; False if the lock was not to be had."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(LIMIT, [f"{seconds * 1000:.0f}ms"])
            lock_consumer(name)
            cursor.execute("SET LOCAL lock_timeout TO DEFAULT")
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            return False
        raise
    return True


def try_lock_consumer(name: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(TRY, [LOCK_CLASS, name])
        return bool(cursor.fetchone()[0])
