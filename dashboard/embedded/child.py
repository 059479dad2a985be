"""One running process of a program: its start, its output, its end."""

import contextlib
import subprocess
import threading
from collections import deque
from collections.abc import Callable
from typing import IO, cast

from dashboard.embedded.guardian import kill_group
from dashboard.embedded.program import GO, Program

# A line without an end is cut here rather than kept in memory.
LONGEST_LINE = 16_384
KEPT_LINES = 12


class Child:
    """A process in a session of its own, which does nothing before `go`."""

    def __init__(self, program: Program, on_line: Callable[[str, str], None]) -> None:
        self.program = program
        self.last_lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._on_line = on_line
        self._process = subprocess.Popen(
            program.launch_command,
            env=program.environ,
            cwd=program.cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, name=f"{program.name} log", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Also the number of its process group."""
        return self._process.pid

    def go(self) -> None:
        """Let it become its command."""
        stdin = cast(IO[bytes], self._process.stdin)
        # It was killed before it began; `wait` will say so.
        with contextlib.suppress(BrokenPipeError):
            stdin.write(GO)
            stdin.close()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def ask_to_stop(self) -> None:
        self._process.send_signal(self.program.stop_signal)

    def kill(self) -> None:
        """Kill it, if it still runs, with its whole process group."""
        kill_group(self.pid)
        self._process.wait()

    def wait(self) -> int:
        """Wait for its end, kill what it leaves behind, and return its exit code, or minus the signal."""
        code = self._process.wait()
        kill_group(self.pid)
        # The last lines say why it died. A survivor that keeps the pipe open is not worth more than this.
        self._reader.join(timeout=2)
        return code

    def _read(self) -> None:
        with cast(IO[bytes], self._process.stdout) as stream:
            for raw in iter(lambda: stream.readline(LONGEST_LINE), b""):
                text = raw.decode(errors="replace").rstrip()
                if not text or (self.program.noise and self.program.noise in text):
                    continue
                self.last_lines.append(text)
                self._on_line(self.program.name, text)
