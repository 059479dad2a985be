"""The launcher as root: each test is root, in a user namespace of its own, whoever runs the tests."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.embedded.program import LAUNCHER

AS_ROOT = ["unshare", "--user", "--map-root-user"]
can_be_root = shutil.which("unshare") and subprocess.run([*AS_ROOT, "true"], check=False).returncode == 0
needs_root = pytest.mark.skipif(not can_be_root, reason="LOUD: this kernel lets nobody make a user namespace")
FORBID = "echo 0 > /proc/sys/user/max_user_namespaces"
PREPARE = "from pathlib import Path; from dashboard.embedded import postgres; postgres.prepare(Path({!r}))"


def test_nothing_runs_without_the_word(tmp_path: Path) -> None:
    launched = [*LAUNCHER, "/bin/sh", "-c", f"touch {tmp_path}/ran"]
    assert subprocess.run(launched, stdin=subprocess.DEVNULL, check=False).returncode == 0
    assert not (tmp_path / "ran").exists()
    subprocess.run(launched, input=b"\n", check=True)
    assert (tmp_path / "ran").exists()


@needs_root
def test_root_becomes_nobody_and_keeps_its_files(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    command = [*AS_ROOT, *LAUNCHER, "--as-nobody", "/bin/sh", "-c", f"id -u; touch {tmp_path}/ours"]
    done = subprocess.run(command, input="\n", capture_output=True, text=True, check=True)
    assert done.stdout == "65534\n"
    assert (tmp_path / "ours").stat().st_uid == tmp_path.stat().st_uid


@needs_root
def test_without_user_namespaces_root_is_told_what_to_do(tmp_path: Path) -> None:
    script = f'{FORBID} && exec "$0" -c "$1"'
    command = [*AS_ROOT, "sh", "-c", script, sys.executable, PREPARE.format(str(tmp_path))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "Postgres does not run as root, and this machine allows no user namespaces to get around that; "
        "run Redrive as an ordinary user, or set DATABASE_URL to a Postgres of yours."
    )
