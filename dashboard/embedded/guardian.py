"""The guardian: stops what the supervisor started if the supervisor is killed.

Run as a script in a session of its own. Its standard input is a pipe whose only writer is the supervisor:

    [[[123, 15], [124, 15]], [[99, 2]]]    live process groups and their stop signals: applications, stores
    bye                                    all is stopped; go away

Each line replaces the one before. If the pipe ends without a goodbye the supervisor is dead, whatever killed
it, and the guardian stops the groups of the last line. All this needs of the kernel is that a pipe closes.
The guardian also inherits the data directory's lock `cleaning`, for which the next start waits.
"""

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path

GOODBYE = "bye"
# After this long a process that was asked to stop is killed: the work it had is picked up again from its row.
GRACE_SECONDS = 10.0


def main() -> None:
    # Whoever signals the whole machine or service means the supervisor; we end when it has ended.
    for ignored in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(ignored, signal.SIG_IGN)
    phases: list[list[tuple[int, int]]] = []
    for line in sys.stdin:
        if line.strip() == GOODBYE:
            return
        phases = json.loads(line)
    for groups in phases:
        stop(groups)


def stop(groups: list[tuple[int, int]]) -> None:
    """Ask the leader of each group to stop, wait, then kill whatever is left of the groups."""
    for pid, stop_signal in groups:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, stop_signal)
    deadline = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < deadline and any(is_running(pid) for pid, _ in groups):
        time.sleep(0.05)
    for pid, _ in groups:
        kill_group(pid)


def is_running(pid: int) -> bool:
    """False also for a zombie: in a container there may be nobody to bury it."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except ProcessLookupError:
        return False
    except OSError:
        # No /proc on this system: the kernel's answer has to do.
        return not Path("/proc/self").exists()
    return state != b"Z"


def kill_group(pid: int) -> None:
    # macOS answers "not permitted" for a group of zombies.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
