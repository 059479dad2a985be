#!/usr/bin/env python3
"""Django's command line; where the console's packages are missing it first makes .venv and runs itself there."""

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
# Names the lock that .venv was made from; written last, so that a half-finished install has none.
STAMP = VENV / "installed-from"
RUNTIME_LOCK, DEVELOPMENT_LOCK = HERE / "requirements.lock", HERE / "requirements-dev.lock"

# What pip says when it comes to a package: from the index, from a directory, or that it is there already.
PACKAGE = re.compile(r"(?:Collecting |Processing .*/|Requirement already satisfied: )([\w.-]+?)(?:==|-\d)")


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036 - somebody has it
        sys.exit("Redrive needs Python 3.11 or newer; this is Python {}.{}.".format(*sys.version_info[:2]))
    in_virtual_environment = sys.prefix != sys.base_prefix
    # Some systems have a Django of their own; who has this has the rest.
    if not in_virtual_environment and importlib.util.find_spec("django_htmx") is None:
        ensure_venv()
        os.execv(VENV_PYTHON, [str(VENV_PYTHON), *sys.orig_argv[1:]])  # noqa: S606
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError, connection

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        # The sentence names the setting and what is allowed; forty lines of traceback above it would hide it.
        sys.exit(str(error))
    except OperationalError as error:
        # Who came as far as a connection has another trouble, and needs the traceback.
        if connection.connection is not None:
            raise
        sys.exit(say_no_database(error))


def say_no_database(error: Exception) -> str:
    from django.conf import settings

    if settings.EMBEDDED:
        return (
            f"The console's database in {settings.DATA_DIR} does not answer; start it with `manage.py up`, "
            "or let REDRIVE_DATA say where it is."
        )
    return f"The database that DATABASE_URL names cannot be used: {' '.join(str(error).split())}"


def ensure_venv() -> None:
    """Make or update .venv, one process at a time."""
    import fcntl

    with Path(__file__).open() as this_file:
        # A second start waits here and then finds the work done; the lock ends with the process.
        fcntl.flock(this_file, fcntl.LOCK_EX)
        lock = wanted_lock()
        if not VENV_PYTHON.exists() or read_stamp() != stamp_of(lock):
            install(lock)


def wanted_lock() -> Path:
    """The development lock holds the other one, so an environment made from it serves every command."""
    is_development = read_stamp().startswith(DEVELOPMENT_LOCK.name) or sys.argv[1:2] in (["test"], ["bench"])
    return DEVELOPMENT_LOCK if is_development else RUNTIME_LOCK


def stamp_of(lock: Path) -> str:
    return f"{lock.name} {hashlib.sha256(lock.read_bytes()).hexdigest()}"


def read_stamp() -> str:
    return STAMP.read_text() if STAMP.exists() else ""


def install(lock: Path) -> None:
    """Install exactly what the lock says; a changed lock updates .venv, an unfinished one is made again."""
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        sys.exit("This Python cannot make a virtual environment; on Debian: apt install python3-venv")
    show("Making .venv")
    if not read_stamp() or not VENV_PYTHON.exists():
        run([sys.executable, "-m", "venv", "--clear", str(VENV)])
    STAMP.unlink(missing_ok=True)
    pip = [str(VENV_PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar=off"]
    total = sum(line[:1].isalnum() for line in lock.read_text().splitlines())
    run([*pip, "--require-hashes", "--only-binary=:all:", "-r", str(lock)], total)
    STAMP.write_text(stamp_of(lock))
    show(f"Made .venv from {lock.name}", end="\n")


def run(command: list, total: int = 0) -> None:
    """Run a command without its noise, showing which package pip is at; if it fails, show all it said."""
    output, number = [], 0
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        output.append(line)
        if line.startswith("Ignoring "):  # a package for another system or Python
            total -= 1
        elif PACKAGE.match(line):
            number += 1
            show(f"Installing {number}/{total} {PACKAGE.match(line)[1]}")
        elif line.startswith("Installing collected packages"):
            show(f"Unpacking {total} packages")
    if process.wait() != 0:
        sys.exit("\n" + "".join(output) + "Redrive could not be installed; the lines above say why.")


def show(text: str, end: str = "") -> None:
    """Progress: one line that changes in a terminal, lines elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}…" if not end else f"\r\033[K{text}.", end=end, file=sys.stderr, flush=True)
    elif end or not text.startswith("Installing"):
        print(f"{text}.", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
