"""The shop's time: the real one, or, while its past is made, a moved one for everything in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.utils import timezone


class MovedClock:
    """A clock of the runtime that is set by hand; it also moves a little whenever it is looked at, as clocks do."""

    def __init__(self, time: datetime) -> None:
        self.time = time

    def now(self) -> datetime:
        self.time += timedelta(milliseconds=7)
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)

    def come_to(self, time: datetime) -> None:
        """Be there now, unless it is later already."""
        self.time = max(self.time, time)


_moved: MovedClock | None = None


def find_moved() -> MovedClock | None:
    """None: time is as it is."""
    return _moved


def now() -> datetime:
    return _moved.now() if _moved else timezone.now()


@contextmanager
def moved(clock: MovedClock) -> Iterator[MovedClock]:
    """Within the block, this process lives by that clock."""
    global _moved
    _moved = clock
    try:
        yield clock
    finally:
        _moved = None
