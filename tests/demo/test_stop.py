"""The shop is told to stop by a signal, which may come at any moment."""

import sys
import threading
from typing import Any

from demo.living import wait_for_console
from projections.runtime.clock import SystemClock


def test_a_signal_at_whatever_line_of_a_wait_ends_it() -> None:
    clock = SystemClock()

    def come(*_: Any) -> Any:
        clock.stop()
        return come

    def wait() -> None:
        sys.settrace(come)
        try:
            wait_for_console(clock)
        finally:
            sys.settrace(None)

    shop = threading.Thread(target=wait, daemon=True)
    shop.start()
    shop.join(10)
    assert not shop.is_alive()
