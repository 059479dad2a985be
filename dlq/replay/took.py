"""When a try began, and how long it took."""

import time
from datetime import datetime
from typing import NamedTuple

from django.utils import timezone


class Took(NamedTuple):
    began_at: datetime
    duration_ms: int


class Stopwatch:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self._began_at, self._began = timezone.now(), time.monotonic()

    def stop(self) -> Took:
        return Took(self._began_at, round(1000 * (time.monotonic() - self._began)))
