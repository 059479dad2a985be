"""Waiting in tests: always for something, never for a while."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(condition: Callable[[], T], seconds: float = 30) -> T:
    """Return the condition's first true value; fail if there is none within the time."""
    deadline = time.monotonic() + seconds
    while True:
        if value := condition():
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"it did not happen within {seconds:g} s: {condition}")
        time.sleep(0.05)
