"""One stream of log lines, each with the name of the process that wrote it."""

import contextlib
import os
import sys
import threading
from typing import IO

WIDTH = 11
COLOURS = {
    "redrive": 1,
    "postgres": 34,
    "valkey": 35,
    "web": 32,
    "worker": 33,
    "rebuilder": 33,
    "sources": 33,
    "housekeeper": 36,
    "beat": 36,
    "consumer": 32,
    "shop": 35,
}


class Log:
    """Writes whole lines, one at a time, from any thread."""

    def __init__(self, stream: IO[str] = sys.stdout) -> None:
        self._stream = stream
        self._is_coloured = stream.isatty() and "NO_COLOR" not in os.environ
        self._lock = threading.Lock()

    def line(self, name: str, text: str) -> None:
        prefix = f"{name:<{WIDTH}} |"
        if self._is_coloured:
            prefix = f"\033[{COLOURS.get(name, 0)}m{prefix}\033[0m"
        self.print(f"{prefix} {text}")

    def say(self, text: str) -> None:
        """A line of the supervisor's own."""
        self.line("redrive", text)

    def print(self, text: str) -> None:
        """A line without a name."""
        # A closed terminal or a reader that went away must not stop the servers.
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._stream.write(f"{text}\n")
            self._stream.flush()
