"""Waiting in tests: always for something, never for a while."""

import time
from collections.abc import Callable
from typing import TypeVar

from django.db import connection

T = TypeVar("T")

# A busy machine may keep Redis waiting for longer than a page or a call would, and then tests of something else would
# see what is done without it; only tests of that patience use the real one.
PATIENT = 10.0


def until(condition: Callable[[], T], seconds: float = 60) -> T:
    """Return the condition's first true value; fail if there is none within the time."""
    deadline = time.monotonic() + seconds
    while True:
        if value := condition():
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"it did not happen within {seconds:g} s: {condition}")
        time.sleep(0.05)


def count_waiting() -> int:
    """How many sessions of the console's database wait for a lock."""
    with connection.cursor() as cursor:
        # Inside a transaction the second look would see what the first saw.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(cursor.fetchone()[0])
