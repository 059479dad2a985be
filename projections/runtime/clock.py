import time
from datetime import datetime
from typing import Protocol

from django.utils import timezone


class Clock(Protocol):
    """What the runtime knows of time, so that a test can record its waits."""

    def now(self) -> datetime: ...

    def sleep(self, seconds: float) -> None: ...


# A stop is heard within so many seconds.
NAP_SECONDS = 0.1


class SystemClock:
    """Sleeps that a signal ends early."""

    def __init__(self) -> None:
        # No threading.Event: it takes a lock, for which a signal that comes while the sleeper has it waits for ever.
        self.is_stopping = False

    def now(self) -> datetime:
        return timezone.now()

    def sleep(self, seconds: float) -> None:
        ends_at = time.monotonic() + seconds
        while not self.is_stopping and (left := ends_at - time.monotonic()) > 0:
            time.sleep(min(left, NAP_SECONDS))

    def stop(self) -> None:
        self.is_stopping = True
