"""A handler that takes too long is interrupted, also in the middle of a query; one that cannot be is ended.

1. A timer signal raises in the handler, wherever it waits in Python or in psycopg.
2. Code that does not come back to Python (a regular expression gone wild) ignores that. Some seconds later a
   watchdog that needs no Python ends the process with a trace on standard error; it is then a death like any
   other, and the third makes the event poison.
"""

import faulthandler
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# How long an interrupted handler may take to come back.
GRACE_SECONDS = 10.0


class HandlerTimeoutError(KeyboardInterrupt):
    """The handler took longer than one try may take.

    It is a KeyboardInterrupt because psycopg cancels the query in hand for those, which leaves the connection
    usable; and because `except Exception` in a handler must not swallow it.
    """


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """Interrupt the block after so many seconds; in the main thread of a process only, as signals are."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise HandlerTimeoutError(f"The handler took longer than {seconds:g} s and was interrupted.")

    before = signal.signal(signal.SIGALRM, interrupt)
    faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, exit=True, file=sys.__stderr__)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)
