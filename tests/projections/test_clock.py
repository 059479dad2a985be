"""The runtime's clock, which a signal stops."""

import sys
import threading
from typing import Any

from projections.runtime.clock import SystemClock


def test_a_signal_at_whatever_line_of_a_sleep_ends_it() -> None:
    clock = SystemClock()

    def come(*_: Any) -> Any:
        clock.stop()
        return come

    def sleep() -> None:
        sys.settrace(come)
        try:
            clock.sleep(3600)
        finally:
            sys.settrace(None)

    sleeper = threading.Thread(target=sleep, daemon=True)
    sleeper.start()
    sleeper.join(10)
    assert not sleeper.is_alive()
