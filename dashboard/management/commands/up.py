import os
import signal
import socket
import sys
import urllib.error
import urllib.request
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from dashboard.embedded import postgres, valkey
from dashboard.embedded.addresses import DEMO_DATABASE, WAREHOUSE_DATABASE
from dashboard.embedded.applications import applications, manage
from dashboard.embedded.data_dir import DataDir
from dashboard.embedded.errors import EmbeddedError
from dashboard.embedded.guard import Guard
from dashboard.embedded.log import Log
from dashboard.embedded.supervisor import StopRequested, Supervisor

STORES_READY_WITHIN_SECONDS = 60.0
# A few seconds, but a busy machine may need half a minute.
CONSOLE_READY_WITHIN_SECONDS = 120.0


class Command(BaseCommand):
    help = "Run the whole console: Postgres, Valkey, web, workers and beat, until Ctrl-C."
    # There is no database yet that a check could look at.
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=port_number, default=8000, help="where the console answers (8000)")
        parser.add_argument(
            "--data", type=Path, default=settings.DATA_DIR, help="where data is kept (.redrive)"
        )
        parser.add_argument("--no-demo", action="store_true", help="an empty console, beside the demo shop's")

    def handle(self, *args: Any, **options: Any) -> None:
        log = Log()
        wants_demo = settings.HAS_OWN_STORES and not options["no_demo"]
        if wants_demo != settings.DEMO:
            start_again(REDRIVE_DEMO=str(int(wants_demo)))
        try:
            run(options["port"], options["data"], log)
        except StopRequested:
            log.say("Stopped.")
        except EmbeddedError as error:
            sys.exit(str(error))


def start_again(**environ: str) -> None:
    """Become the same command with other settings: which apps are installed is decided before a command begins."""
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | environ)  # noqa: S606


def run(port: int, path: Path, log: Log) -> None:
    """Start everything in order, and stay until somebody asks us to stop."""
    url = f"http://127.0.0.1:{port}"
    data = DataDir(path)
    data.claim(url)
    check_port(port)
    data.ensure_secret_key()
    data.mark_demo(settings.DEMO)
    # The children work out the embedded addresses from the data directory.
    environ = os.environ | {
        "REDRIVE_DATA": str(data.path),
        "REDRIVE_DEMO": str(int(settings.DEMO)),
        "PYTHONUNBUFFERED": "1",
    }
    with Supervisor(log, Guard(data.cleaning)) as supervisor:
        supervisor.stop_on(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        start_stores(supervisor, data.path)
        if settings.DEMO:
            postgres.ensure_databases(data.path, DEMO_DATABASE, WAREHOUSE_DATABASE)
        output = supervisor.run(manage("migrate", environ, "migrate", "--no-input"))
        if applied := sum("Applying" in line for line in output):
            log.say(f"Migrations applied: {applied}.")
        supervisor.start(*applications(port, environ))
        link = url
        if settings.EMBEDDED:
            link = supervisor.run(manage("login_link", environ, "login_link", "--base-url", url))[-1]
        wait_until_ready(supervisor, url)
        log.print(f"Redrive is ready: {link}")
        supervisor.wait()


def check_port(port: int) -> None:
    with socket.socket() as probe:
        # As the web server does it: a connection of an earlier run that is not quite closed is no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            reason = f"Port {port} cannot be used ({os.strerror(error.errno or 0)})"
            raise EmbeddedError(f"{reason}; choose another one with --port.") from None


def has_own_valkey() -> bool:
    return settings.REDIS_URL == settings.OWN_REDIS_URL


def start_stores(supervisor: Supervisor, data_dir: Path) -> None:
    """Start the servers that DATABASE_URL and REDIS_URL do not replace."""
    stores = [*([postgres] if settings.EMBEDDED else []), *([valkey] if has_own_valkey() else [])]
    for store in stores:
        store.prepare(data_dir)
        supervisor.start(store.program(data_dir))
    try:
        supervisor.wait_until(lambda: all(s.is_ready(data_dir) for s in stores), STORES_READY_WITHIN_SECONDS)
    except TimeoutError:
        raise EmbeddedError("Postgres or Valkey did not start in time; the lines above say why.") from None


def wait_until_ready(supervisor: Supervisor, url: str) -> None:
    """Ask the console itself, by a name that it answers to."""
    host = next((name.lstrip(".") for name in settings.ALLOWED_HOSTS if name != "*"), "127.0.0.1")
    request = urllib.request.Request(f"{url}/readyz", headers={"Host": host})  # noqa: S310 - it is http
    # Whatever proxy the environment names, it is not on the way to ourselves.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    answers = ["nothing"]

    def is_ready() -> bool:
        try:
            with opener.open(request, timeout=5):
                return True
        except urllib.error.HTTPError as error:
            answers.append(f"{error.code} {error.read(2000).decode(errors='replace').strip()}")
        except OSError as error:
            answers.append(str(error))
        return False

    try:
        supervisor.wait_until(is_ready, CONSOLE_READY_WITHIN_SECONDS, pause=0.5)
    except TimeoutError:
        raise EmbeddedError(f"The console does not become ready; {url}/readyz: {answers[-1]}") from None


def port_number(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise ArgumentTypeError(f"{text!r} is not a port; write a number from 1 to 65535")
    return int(text)
