"""The console's real processes, on the test's own database and Redis number."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import psycopg
from django.conf import settings
from django.db import connection

from dashboard.embedded import postgres, valkey
from dashboard.embedded.addresses import database_url, redis_url, socket_dir
from dashboard.embedded.program import GO
from tests.wait import until

ROOT = Path(__file__).resolve().parent.parent
QUEUES = "replays,rebuilds,runs,housekeeping"
CELERY = ["-m", "celery", "-A", "dashboard.celery"]


class Process:
    """A child in a session of its own, so that it can be killed with all that it started."""

    def __init__(self, *arguments: str, log: Path, **environment: str) -> None:
        stores = {"DATABASE_URL": this_database_url(), "REDIS_URL": settings.REDIS_URL}
        with log.open("ab") as output:
            self.popen = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=os.environ | stores | environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def signal_all(self, number: signal.Signals) -> None:
        os.killpg(self.popen.pid, number)

    def kill(self) -> None:
        """kill -9, the worst that can happen to it."""
        if self.popen.poll() is None:
            self.signal_all(signal.SIGKILL)
        self.popen.wait()


def this_database_url() -> str:
    found = connection.settings_dict
    return f"postgresql://{found['USER']}@/{found['NAME']}?host={quote(found['HOST'], safe='')}"


@contextmanager
def running_worker(log: Path, *, queues: str = QUEUES, **environment: str) -> Iterator[Process]:
    options = ["worker", "-Q", queues, "-c", "2", "--without-gossip", "--without-mingle"]
    process = Process(*CELERY, *options, log=log, **environment)
    try:
        until(lambda: "ready" in log.read_text())
        yield process
    finally:
        process.kill()


@contextmanager
def running_beat(log: Path, **environment: str) -> Iterator[Process]:
    process = Process(*CELERY, "beat", log=log, **environment)
    try:
        yield process
    finally:
        process.kill()


@contextmanager
def running_redis(directory: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A Redis of the test's own, to be stopped, killed or emptied; gives the process and its address."""
    valkey.prepare(directory)
    process = subprocess.Popen(valkey.program(directory).command)
    try:
        until(lambda: valkey.is_ready(directory))
        yield process, redis_url(directory)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(socket_dir(directory))


class OwnPostgres:
    """A Postgres of the test's own, to be crashed and started again."""

    def __init__(self, directory: Path, *, durable: bool = False) -> None:
        self.directory = directory
        self.durable = durable
        postgres.prepare(directory, durable=durable)
        self.start()

    @property
    def url(self) -> str:
        return database_url(self.directory)

    def start(self) -> None:
        self.popen = subprocess.Popen(
            postgres.program(self.directory, durable=self.durable).launch_command,
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.popen.stdin is not None
        self.popen.stdin.write(GO)
        self.popen.stdin.flush()
        until(lambda: postgres.is_ready(self.directory))

    def crash(self) -> None:
        """An immediate shutdown: nothing is tidied up, the next start recovers."""
        with self.popen:
            self.popen.send_signal(signal.SIGQUIT)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """It lives and says nothing, neither to those who are connected nor to those who come."""
        with psycopg.connect(self.url) as asking:
            sessions = [pid for (pid,) in asking.execute("SELECT pid FROM pg_stat_activity").fetchall()]
        stopped = [self.popen.pid, *sessions]
        for pid in stopped:
            send(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in stopped:
                send(pid, signal.SIGCONT)

    def close(self) -> None:
        self.crash()
        shutil.rmtree(socket_dir(self.directory), ignore_errors=True)


def send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


@contextmanager
def running_web(log: Path, *, wsgi: str = "dashboard.wsgi", **environment: str) -> Iterator[str]:
    """Gunicorn as `up` starts it; gives the console's address."""
    with mortal_web(log, wsgi=wsgi, **environment) as (_, url):
        yield url


@contextmanager
def mortal_web(
    log: Path, *, wsgi: str = "dashboard.wsgi", **environment: str
) -> Iterator[tuple[Process, str]]:
    """The same with its process, to be killed."""
    port = find_port()
    options = ["-k", "gthread", "--threads", "4", "-b", f"127.0.0.1:{port}", wsgi]
    process = Process("-m", "gunicorn", *options, log=log, **environment)
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: answers(f"{url}/healthz"))
        yield process, url
    finally:
        process.kill()


def find_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
