"""A handler that takes too long is interrupted, also in the middle of a query; one that cannot be is ended.

1. A timer signal raises in the handler, wherever it waits in Python or in psycopg.
2. Code that does not come back to Python (a regular expression gone wild) ignores that. Some seconds later a
   watchdog that needs no Python ends the process with a trace on standard error; it is then a death like any
   other, and the third makes the event poison.
"""

import faulthandler
import signal
import time
from types import FrameType
from typing import Self

# How long an interrupted handler may take to come back.
GRACE_SECONDS = 10.0


class HandlerTimeoutError(KeyboardInterrupt):
    """The handler took longer than one try may take.

    It is a KeyboardInterrupt because psycopg cancels the query in hand for those, which leaves the connection
    usable; and because `except Exception` in a handler must not swallow it.
    """


class Alarm:
    """Interrupts what takes too long between `restart` and `pause`; in a process's main thread, as signals are."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._watched_since = float("-inf")

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGALRM, self._interrupt)
        return self

    def restart(self) -> None:
        """The next event begins; the watchdog is a thread, so it is set anew once a second and not for each."""
        now = time.monotonic()
        if now - self._watched_since > 1:
            self._watched_since = now
            # Descriptor 2, whatever stands in for sys.stderr.
            faulthandler.dump_traceback_later(self.seconds + GRACE_SECONDS, exit=True, file=2)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def pause(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)

    def __exit__(self, *_: object) -> None:
        self.pause()
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, self._before)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        raise HandlerTimeoutError(f"The handler took longer than {self.seconds:g} s and was interrupted.")
