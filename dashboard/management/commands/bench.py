import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.embedded import postgres, valkey
from dashboard.embedded.addresses import database_url, redis_url
from dashboard.embedded.guard import Guard
from dashboard.embedded.log import Log
from dashboard.embedded.supervisor import Supervisor

READY_WITHIN_SECONDS = 60


class Command(BaseCommand):
    help = "List the benchmarks, or run one on private servers; its last line is one JSON object."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", help="which one; without it they are listed")
        parser.add_argument("rest", nargs="*", help="the benchmark's own options")

    def run_from_argv(self, argv: list[str]) -> None:
        """What stands after the name belongs to the benchmark, dashes and all."""
        super().run_from_argv([*argv[:3], *(["--"] if argv[3:] and argv[2][:1] != "-" else []), *argv[3:]])

    def handle(self, *args: Any, **options: Any) -> None:
        found = list_benchmarks()
        if not options["name"]:
            for name, sentence in found.items():
                self.stdout.write(f"{name:<16} {sentence}")
        elif options["name"] not in found:
            raise CommandError(f"There is no benchmark {options['name']!r}; there are {', '.join(found)}.")
        else:
            run(options["name"], options["rest"])


def list_benchmarks() -> dict[str, str]:
    """Name and first sentence of each; a module without `main` only helps the others."""
    found = {}
    for path in sorted((settings.BASE_DIR / "bench").glob("*.py")):
        source = path.read_text()
        if "\ndef main(" in source:
            found[path.stem.replace("_", "-")] = source.split('"""')[1].splitlines()[0]
    return found


def run(name: str, arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="redrive-bench-") as directory:
        data_dir = Path(directory)
        with (data_dir / "servers.log").open("w") as log, Supervisor(Log(log), Guard()) as supervisor:
            for store in (postgres, valkey):
                store.prepare(data_dir)
                supervisor.start(store.program(data_dir))
            supervisor.wait_until(
                lambda: postgres.is_ready(data_dir) and valkey.is_ready(data_dir), READY_WITHIN_SECONDS
            )
            environment = os.environ | {
                "DATABASE_URL": database_url(data_dir),
                "REDIS_URL": redis_url(data_dir),
                "REDRIVE_SECRET_KEY": "only-for-this-benchmark-" * 3,
                "REDRIVE_ALLOWED_HOSTS": "127.0.0.1,testserver",
                "REDRIVE_HTTPS": "0",
                "REDRIVE_LOG_LEVEL": "WARNING",
                "REDRIVE_CONFIG": os.devnull,
                "DJANGO_SETTINGS_MODULE": "dashboard.settings",
            }
            manage = [sys.executable, str(settings.BASE_DIR / "manage.py")]
            subprocess.run([*manage, "migrate", "--verbosity=0"], env=environment, check=True)
            script = (
                f"import django, sys; django.setup(); from bench.{name.replace('-', '_')} import main; main()"
            )
            subprocess.run(
                [sys.executable, "-c", script, *arguments], env=environment, cwd=settings.BASE_DIR, check=True
            )
