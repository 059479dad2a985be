"""The console's own processes, as `manage.py up` starts them."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from dashboard.embedded.program import Program

BASE_DIR = Path(__file__).resolve().parent.parent.parent
# gunicorn's workers touch a file to show that they live; on a disk that hangs they would be taken for dead.
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108


# Commands of manage.py that sections want to have running beside the others, by name.
_beside: dict[str, tuple[str, ...]] = {}


def run_beside(name: str, *arguments: str) -> None:
    """Have `up` keep this command of manage.py running; a section says so when Django starts."""
    _beside[name] = arguments


# Queues that a section wants to have a worker of their own, by name, and how many tasks at a time.
_queues: dict[str, int] = {}


def work_on(queue: str, *, concurrency: int) -> None:
    """Have `up` keep a worker for this queue; a section says so when Django starts."""
    _queues[queue] = concurrency


def applications(port: int, environ: Mapping[str, str]) -> list[Program]:
    """Web, workers, beat, and what the sections want."""
    return [
        _python("web", environ, "gunicorn", *_gunicorn(port), "dashboard.wsgi"),
        _worker("worker", environ, "--queues=replays,runs", "--concurrency=2"),
        # However many replays there are, a projection that is being rebuilt does not wait for them.
        _worker("rebuilder", environ, "--queues=rebuilds", "--concurrency=1"),
        # Its tasks are short: the solo pool saves a process.
        _worker("housekeeper", environ, "--queues=housekeeping", "--pool=solo", "--concurrency=1"),
        *(
            _worker(queue, environ, f"--queues={queue}", f"--concurrency={number}")
            for queue, number in _queues.items()
        ),
        # No pid file: after kill -9 it would keep the next beat from starting.
        _celery("beat", environ, "beat", "--pidfile="),
        *(manage(name, environ, *arguments) for name, arguments in _beside.items()),
    ]


def manage(name: str, environ: Mapping[str, str], *arguments: str) -> Program:
    """A command of manage.py, in a process of its own that has the environment of the others."""
    return Program(name, [sys.executable, str(BASE_DIR / "manage.py"), *arguments], environ)


def _python(name: str, environ: Mapping[str, str], module: str, *arguments: str) -> Program:
    # The working directory is where `-m` looks for the `dashboard` package.
    return Program(name, [sys.executable, "-m", module, *arguments], environ, cwd=BASE_DIR)


def _celery(name: str, environ: Mapping[str, str], *arguments: str) -> Program:
    # Celery warns of root in eight lines; whoever starts `up` as root knows.
    environ = {**environ, "PYTHONWARNINGS": "ignore:You're running the worker with superuser"}
    return _python(name, environ, "celery", "--app=dashboard.celery", "--quiet", *arguments)


def _worker(name: str, environ: Mapping[str, str], *arguments: str) -> Program:
    # Workers are known by their heartbeats in the database; they need not talk to each other.
    silent = ["--without-gossip", "--without-mingle"]
    return _celery(name, environ, "worker", f"--hostname={name}@%h", *silent, *arguments)


def _gunicorn(port: int) -> list[str]:
    options = [f"--bind=127.0.0.1:{port}", "--worker-class=gthread", "--workers=2", "--threads=8"]
    # The application is imported once, and its workers are forked from there: they start sooner and share memory.
    options.append("--preload")
    quiet = ["--log-level=warning", "--no-control-socket", "--graceful-timeout=5"]
    if os.access(SHARED_MEMORY, os.W_OK):
        quiet.append(f"--worker-tmp-dir={SHARED_MEMORY}")
    return [*options, *quiet]
