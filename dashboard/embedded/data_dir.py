"""The data directory of one installation: its locks and its secret key."""

import contextlib
import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from dashboard.embedded.errors import EmbeddedError
from dashboard.embedded.guardian import GRACE_SECONDS

# The guardian stops applications, then stores.
CLEANED_UP_WITHIN_SECONDS = 2 * GRACE_SECONDS + 10


class DataDir:
    """A directory that is ours alone until this process ends.

    There are two locks. `running` ends with this process, whatever kills it. `cleaning` is inherited by the
    guardian, so that after our violent death the next start waits until the guardian is done.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        with self._writing():
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._running = _open(self.path / "running")
            self.cleaning = _open(self.path / "cleaning")

    def claim(self, url: str) -> None:
        """Take the directory, and leave word for a second start."""
        if not _lock(self._running):
            raise EmbeddedError(f"Redrive is already running ({os.pread(self._running, 1000, 0).decode()}).")
        with self._writing():
            os.ftruncate(self._running, 0)
            os.pwrite(self._running, f"pid {os.getpid()}, {url}".encode(), 0)
        deadline = time.monotonic() + CLEANED_UP_WITHIN_SECONDS
        while not _lock(self.cleaning):
            if time.monotonic() > deadline:
                raise EmbeddedError(f"An earlier Redrive in {self.path} does not end; end its processes.")
            time.sleep(0.1)

    def ensure_secret_key(self) -> None:
        """Write a secret key, unless there is one."""
        path = self.path / "secret_key"
        if not path.exists():
            # Complete or not there: half a key would be accepted later.
            unfinished = path.with_suffix(".new")
            with self._writing():
                unfinished.touch(mode=0o600)
                unfinished.write_text(secrets.token_urlsafe(50))
                unfinished.rename(path)

    def mark_demo(self, is_demo: bool) -> None:
        """Leave word of what this start has, for commands that are run beside it."""
        mark = self.path / "demo"
        with self._writing():
            if is_demo:
                mark.touch(mode=0o600)
            else:
                mark.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """A full disk is a sentence, too."""
        try:
            yield
        except OSError as error:
            raise EmbeddedError(
                f"Redrive cannot write to {self.path} ({error.strerror}); choose another place with --data."
            ) from None


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
