"""Failures that are not the event's fault."""

from django.db import InterfaceError, OperationalError

# SQLSTATE classes: connection, resources, operator intervention, system error. 57014 is a query that was cancelled.
OUTAGE_CLASSES = ("08", "53", "57P", "58")


def is_outage(error: BaseException) -> bool:
    """Whether our own database is away: then nothing can be recorded, and every event would fail the same way."""
    if isinstance(error, InterfaceError):
        return True
    if not isinstance(error, OperationalError):
        return False
    # psycopg knows no state when the connection itself broke.
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(OUTAGE_CLASSES)
