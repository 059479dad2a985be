"""A real `manage.py up` in a process of its own, for tests that kill things."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import psutil

from tests.embedded.processes import is_alive
from tests.servers import ENVIRONMENT
from tests.wait import until

MANAGE = Path(__file__).parent.parent / "manage.py"
# What pytest's own servers and settings are called in the environment must not reach the console.
OURS = {"DATABASE_URL", "REDIS_URL", *ENVIRONMENT}
READY = re.compile(r"^Redrive is ready: (\S+)$", re.MULTILINE)
# What tells one child's command line from the others'.
MARKS = {
    "postgres": "bin/postgres -D",
    "valkey": "valkey-server",
    "web": "-m gunicorn",
    "worker": "--hostname=worker@",
    "rebuilder": "--hostname=rebuilder@",
    "housekeeper": "--hostname=housekeeper@",
    "beat": "beat --pidfile",
    "guardian": "guardian.py",
}


class Console:
    """Starts at once; what it prints is kept in `output`."""

    def __init__(self, data_dir: Path, *arguments: str, port: int | None = None, demo: bool = False) -> None:
        self.port = port or free_port()
        self.output = ""
        self._process = subprocess.Popen(
            [
                sys.executable,
                str(MANAGE),
                "up",
                *([] if demo else ["--no-demo"]),
                f"--port={self.port}",
                f"--data={data_dir}",
                *arguments,
            ],
            env={name: value for name, value in os.environ.items() if name not in OURS},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_until_ready(self) -> str:
        """The address that it printed."""
        until(lambda: READY.search(self.output) or self._process.poll() is not None, 150)
        found = READY.search(self.output)
        assert found, self.output
        return found[1]

    def status(self, path: str) -> int:
        """What it answers at the path; 0 if it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def find_child(self, name: str) -> psutil.Process | None:
        """The process of that name; None while there is none."""
        for child in psutil.Process(self.pid).children():
            # It may end while we look.
            with contextlib.suppress(psutil.Error):
                if MARKS[name] in " ".join(child.cmdline()):
                    return child
        return None

    def family(self) -> list[int]:
        """Every process it has started."""
        return [child.pid for child in psutil.Process(self.pid).children(recursive=True)]

    def stop(self, number: signal.Signals) -> None:
        """Ask it to stop, and again, since impatience is harmless; nothing may be left of it."""
        family = self.family()
        self.signal(number)
        self.signal(number)
        assert self.wait() == 0
        assert self.output.splitlines()[-1] == "redrive     | Stopped."
        assert not any(map(is_alive, family))

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self) -> int:
        """Wait for its end; the exit code."""
        code = self._process.wait(timeout=90)
        self._reader.join(timeout=10)
        return code

    def close(self) -> None:
        """Stop it, however it is."""
        if self._process.poll() is None:
            self._process.terminate()
        self.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            for line in stream:
                self.output += line


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
