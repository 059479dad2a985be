"""The environment is read strictly: a wrong value names itself and stops the start."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

PRODUCTION = {
    "DATABASE_URL": "postgresql://redrive:secret@db.example/redrive",
    "REDIS_URL": "rediss://default:secret@redis.example:6379/0",
    "REDRIVE_SECRET_KEY": "0123456789abcdef" * 4,
    "REDRIVE_ALLOWED_HOSTS": "redrive.example",
    "REDRIVE_TRUST_PROXY": "1",
}


def check(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run Django's checks in a process of its own, in production but for the changes."""
    return manage("check", *arguments, **PRODUCTION | changes)


def manage(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    keep = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=keep | environ,
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("REDRIVE_DEBUG", "maybe", "REDRIVE_DEBUG is 'maybe'; write 1 or 0."),
        ("REDRIVE_SESSION_HOURS", "-1", "REDRIVE_SESSION_HOURS is '-1'; write a whole number from 1 to 720."),
        ("REDRIVE_ENVIRONMENT_COLOUR", "pink", "write one of amber, blue, green, grey, red"),
        ("REDRIVE_SECRET_KEY", "", "REDRIVE_SECRET_KEY is not set"),
        (
            "REDIS_URL",
            "http://redis.example",
            "REDIS_URL must begin with one of redis://, rediss://, unix://.",
        ),
        (
            "REDRIVE_BREAKER_PROFILES",
            '{"payments": {"failure_treshold": 3}}',
            "REDRIVE_BREAKER_PROFILES: 'payments' has 'failure_treshold', which means nothing",
        ),
        (
            "REDRIVE_TIME_ZONE",
            "Europe/Berln",
            "REDRIVE_TIME_ZONE is 'Europe/Berln'; write a zone that this machine knows",
        ),
        (
            "REDRIVE_TIME_ZONE",
            "Europe",
            "REDRIVE_TIME_ZONE is 'Europe'; write a zone that this machine knows",
        ),
        ("DATABASE_URL", "mysql://db.example/x", "DATABASE_URL must begin with one of"),
        (
            "DATABASE_URL",
            "postgresql://db.example/x?no_such=1",
            "DATABASE_URL is not a valid postgresql:// address",
        ),
    ],
)
def test_a_wrong_value_stops_the_start(name: str, value: str, sentence: str) -> None:
    done = check(**{name: value})
    assert done.returncode != 0
    [said] = done.stderr.splitlines()
    assert sentence in said
    assert "secret@" not in said


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        (
            {"REDRIVE_ALLOWED_HOSTS": "", "REDRIVE_SECRET_KEY": "short", "REDRIVE_HTTPS": "0"},
            ["redrive.E001", "redrive.E003", "redrive.W001"],
        ),
        (
            {
                "REDRIVE_ALLOWED_HOSTS": "*",
                "REDRIVE_DEBUG": "1",
                "REDIS_URL": "redis://redis.example:6379/0",
                "REDRIVE_TRUST_PROXY": "0",
            },
            ["redrive.E002", "redrive.E004", "redrive.W002", "redrive.W003"],
        ),
    ],
)
def test_every_misconfiguration_is_named_with_a_hint(changes: dict[str, str], codes: list[str]) -> None:
    """Those of each are all that there is to complain about; the gate sees that without them there is nothing."""
    done = check("--fail-level", "WARNING", **changes)
    assert done.returncode != 0
    assert sorted(re.findall(r"\((redrive\.\w+)\)", done.stderr)) == codes
    assert done.stderr.count("HINT") == len(codes)


def test_the_readme_lists_every_variable_that_is_read_and_no_other() -> None:
    source = (settings.BASE_DIR / "dashboard/settings.py").read_text()
    table = (settings.BASE_DIR / "README.md").read_text().partition("## Settings")[2]
    read = set(re.findall(r'\benv\.\w+\(\s*"(\w+)"', source))
    assert read == set(re.findall(r"^\| `([A-Z_]+)` \|", table, re.MULTILINE))
    assert "REDRIVE_DEMO" in read


def test_a_command_without_its_database_says_so_in_a_sentence(tmp_path: Path) -> None:
    embedded = manage("create_token", "orders", REDRIVE_DATA=str(tmp_path), REDRIVE_DEMO="0")
    assert embedded.stderr == (
        f"The console's database in {tmp_path} does not answer; start it with `manage.py up`, "
        "or let REDRIVE_DATA say where it is.\n"
    )
    nowhere = PRODUCTION | {"DATABASE_URL": "postgresql://redrive:hidden@127.0.0.1:1/redrive"}
    [said] = manage("migrate", **nowhere).stderr.splitlines()
    assert said.startswith("The database that DATABASE_URL names cannot be used: ")
    assert "refused" in said
    assert "hidden" not in said
