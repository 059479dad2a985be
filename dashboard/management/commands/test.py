"""`manage.py test`: the quality gate and every test; with arguments, pytest with those arguments."""

import os
import secrets
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from django.conf import settings
from django.core.management.base import BaseCommand

CHROMIUM_NAMES = ["chromium", "chromium-browser", "google-chrome"]
NO_CHROMIUM = (
    "!!! The browser tests did not run: no Chromium. On Debian: apt install chromium; "
    "elsewhere set REDRIVE_CHROMIUM to the path of a Chromium or Chrome."
)
# A console on the network, as a careful administrator sets it up.
PRODUCTION = {
    "DATABASE_URL": "postgresql://redrive@db.example.com/redrive",
    "REDIS_URL": "rediss://redrive:password@redis.example.com/0",
    "REDRIVE_ALLOWED_HOSTS": "redrive.example.com",
    "REDRIVE_HSTS_SECONDS": "31536000",
    "REDRIVE_TRUST_PROXY": "1",
    "REDRIVE_SECRET_KEY": secrets.token_urlsafe(50),
}
PYTEST = ["-m", "pytest"]
# The demo shop and the example are installed only where they are wanted, and looked at like the rest.
WITH_DEMO = {"REDRIVE_DEMO": "1", "REDRIVE_APPS": "examples.parcels"}


@dataclass(frozen=True)
class Step:
    """One thing that must succeed; a quiet one shows its last line when it is done, and everything if it fails."""

    title: str
    arguments: list[str]
    environ: dict[str, str] = field(default_factory=dict)
    is_quiet: bool = True


GATE = [
    Step("mypy", ["-m", "mypy"], WITH_DEMO),
    Step("ruff check", ["-m", "ruff", "check", "."]),
    Step("ruff format", ["-m", "ruff", "format", "--check", "."]),
    Step("migrations are complete", ["manage.py", "makemigrations", "--check", "--dry-run"], WITH_DEMO),
    Step("check --deploy", ["manage.py", "check", "--deploy", "--fail-level=WARNING"], PRODUCTION),
]
TESTS = Step("tests", [*PYTEST, "-n4", "--ignore=tests/browser"], is_quiet=False)
# Playwright's loop makes Django think that it runs in asynchronous code; elsewhere that guard is wanted.
IN_BROWSER = {"DJANGO_ALLOW_ASYNC_UNSAFE": "true"}
BROWSER_TESTS = Step("browser tests", [*PYTEST, "tests/browser"], IN_BROWSER)


class Command(BaseCommand):
    help = "Run the quality gate and all tests; with arguments, run pytest with those arguments."
    requires_system_checks = []

    def run_from_argv(self, argv: list[str]) -> None:
        """Past Django's parser, which does not know pytest's options."""
        if chromium := find_chromium():
            os.environ["REDRIVE_CHROMIUM"] = chromium
        # Containers often set it, and then each of the hundreds of processes to come compiles everything anew.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        if argv[2:]:
            sys.exit(run(Step("pytest", [*PYTEST, *argv[2:]], is_quiet=False)))
        sys.exit(run_everything())


def run_everything() -> int:
    """Run every step, also after one has failed, and return the exit code.

    The tests wait for processes and clocks much of the time; meanwhile the other steps go on, one after the other.
    """
    started = time.monotonic()
    with ThreadPoolExecutor(1) as beside:
        others = [*GATE, BROWSER_TESTS] if find_chromium() else GATE
        codes = [(step.title, beside.submit(run, step)) for step in others]
        failed = [TESTS.title] if run(TESTS) != 0 else []
        failed += [title for title, code in codes if code.result() != 0]
    if not find_chromium():
        print(NO_CHROMIUM, flush=True)
        # Where nobody reads the output, a test that did not run has not passed.
        failed += [BROWSER_TESTS.title] if os.environ.get("CI") == "true" else []
    verdict = f"FAILED: {', '.join(failed)}" if failed else "All is well"
    print(f"{verdict} ({time.monotonic() - started:.0f} s).")
    return 1 if failed else 0


def run(step: Step) -> int:
    if not step.is_quiet:
        print(f"== {step.title}", flush=True)
    done = subprocess.run(
        [sys.executable, *step.arguments],
        cwd=settings.BASE_DIR,
        env=os.environ | step.environ,
        stdout=subprocess.PIPE if step.is_quiet else None,
        stderr=subprocess.STDOUT if step.is_quiet else None,
        text=True,
        check=False,
    )
    if step.is_quiet:
        output = done.stdout.strip() if done.returncode != 0 else done.stdout.strip().rpartition("\n")[2]
        print(f"\n== {step.title}: {output}", flush=True)
    return done.returncode


def find_chromium() -> str | None:
    """The browser for the tests; None if there is none."""
    return os.environ.get("REDRIVE_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
