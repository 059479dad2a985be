"""Other people's systems, each in a private environment that is made on first use and kept."""

import fcntl
import subprocess
import sys
import venv
from pathlib import Path

from django.conf import settings

EVENTSOURCE = "eventsource-py==0.8.1"
# What it needs beside itself to speak to Postgres; greenlet is missing from its own list.
COMPANIONS = {EVENTSOURCE: ["sqlalchemy", "asyncpg", "greenlet"]}
MOST_SECONDS = 300


class PeerMissingError(Exception):
    """The package could not be installed; the sentence says what was wanted and what pip said."""


def get_python(package: str) -> Path:
    """The interpreter of the environment that holds this package; one process at a time makes it."""
    home = settings.DATA_DIR / "peers" / package
    home.mkdir(parents=True, exist_ok=True)
    with (home.parent / f"{package}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "complete").exists():
            install(package, home)
    return home / "bin" / "python"


def install(package: str, home: Path) -> None:
    # Our own pip fills it: a second one takes as long to install as all the rest.
    venv.create(home, with_pip=False, clear=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(home / "bin" / "python"),
        "--disable-pip-version-check",
    ]
    try:
        subprocess.run(
            [*pip, "install", "--quiet", "--retries=1", package, *COMPANIONS[package]],
            check=True,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        said = str(error.stderr or error).strip().splitlines()[-1]
        raise PeerMissingError(
            f"{package} could not be installed, and this needs the real one: is the package index reachable? "
            f"pip said: {said}"
        ) from error
    (home / "complete").touch()
