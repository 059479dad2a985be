"""Reading that must not take long, whatever the planner makes of it."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

# Of two indexes over open letters the planner combines only one with the other's whole history: at ten million letters
# a second for what one index and a look at its letters do in a millisecond.
LIMITS = "SELECT set_config('statement_timeout', %s, true), set_config('enable_bitmapscan', 'off', true)"


class TooSlowError(Exception):
    """The time was over before there was an answer."""


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Statements of the block that take longer raise TooSlowError. Only for reading: the block is rolled back."""
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(LIMITS, [str(int(1000 * seconds))])
            yield
            # Also inside another transaction this gives the settings back.
            transaction.set_rollback(True)
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TooSlowError from error
        raise
