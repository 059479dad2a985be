"""The supervisor's end of the pipe to the guardian."""

import contextlib
import json
import subprocess
import threading
import time
from pathlib import Path
from typing import IO, cast

from dashboard.embedded.guardian import GOODBYE
from dashboard.embedded.program import SCRIPT

# In the order in which they are stopped: process group and stop signal.
Groups = list[list[tuple[int, int]]]
# One that cannot live must not keep a processor busy.
RESTART_PAUSE_SECONDS = 0.2


class Guard:
    """Keeps one guardian alive and tells it which process groups there are."""

    def __init__(self, inherited_lock: int | None = None) -> None:
        self._inherited = () if inherited_lock is None else (inherited_lock,)
        self._lock = threading.Lock()
        self._groups: Groups = []
        self._dismissed = False
        self._process = self._start()
        self._keeper = threading.Thread(target=self._keep, name="guard", daemon=True)
        self._keeper.start()

    @property
    def _pipe(self) -> IO[bytes]:
        return cast(IO[bytes], self._process.stdin)

    def tell(self, groups: Groups) -> None:
        """Replace the guardian's list; it is in the pipe, and so survives us, when this returns."""
        with self._lock:
            self._groups = groups
            self._write(json.dumps(groups))

    def dismiss(self) -> None:
        """Say goodbye: nothing is left to guard."""
        with self._lock:
            self._dismissed = True
            self._write(GOODBYE)
        self._keeper.join()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*SCRIPT, str(Path(__file__).with_name("guardian.py"))],
            stdin=subprocess.PIPE,
            pass_fds=self._inherited,
            start_new_session=True,
            bufsize=0,
        )

    def _keep(self) -> None:
        while True:
            self._process.wait()
            with self._lock, self._pipe:
                if self._dismissed:
                    return
                self._process = self._start()
                self._write(json.dumps(self._groups))
            time.sleep(RESTART_PAUSE_SECONDS)

    def _write(self, line: str) -> None:
        # It was killed this moment; `_keep` starts another one and repeats the list.
        with contextlib.suppress(BrokenPipeError):
            self._pipe.write(f"{line}\n".encode())
