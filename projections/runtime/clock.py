import threading
from datetime import datetime
from typing import Protocol

from django.utils import timezone


class Clock(Protocol):
    """What the runtime knows of time, so that a test can record its waits."""

    def now(self) -> datetime: ...

    def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """Sleeps that a signal ends early."""

    def __init__(self) -> None:
        self._stopping = threading.Event()

    def now(self) -> datetime:
        return timezone.now()

    def sleep(self, seconds: float) -> None:
        self._stopping.wait(seconds)

    def stop(self) -> None:
        self._stopping.set()

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()
