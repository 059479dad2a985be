"""Servers that outlived whoever started them; they must be gone before another one opens the same files."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
# A process that was killed is gone in milliseconds, unless the disk is stuck.
GONE_WITHIN_SECONDS = 5.0


def end_leftovers(directory: Path, executable: str) -> bool:
    """Kill every process of that name that works in the directory; True if it is certain that none is left.

    Postgres needs this after the death of its first process: the others are in sessions of their own, and one
    that is busy with a query does not notice. Without /proc we rely on their noticing.
    """
    deadline = time.monotonic() + GONE_WITHIN_SECONDS
    while pids := list(_working_in(directory, executable)):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return PROC.is_dir()


def _working_in(directory: Path, executable: str) -> Iterator[int]:
    for process in PROC.glob("[0-9]*"):
        # It ended while we looked, or belongs to somebody else.
        with contextlib.suppress(OSError):
            # " (deleted)" follows the name if .venv was made again.
            name = (process / "exe").readlink().name.split()[0]
            if name == executable and (process / "cwd").readlink() == directory:
                yield int(process.name)
