"""manage.py without Django: it makes .venv by itself, notices a changed lock, and does nothing twice.

The project here is a copy of manage.py and locks that name one tiny wheel, which pip takes from a directory:
real pip, real hashes, no network. The wheel stands in for Django and says which Python runs it.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.console import MANAGE

BASE_PYTHON = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
has_all = (
    subprocess.run([BASE_PYTHON, "-c", "import django_htmx"], capture_output=True, check=False).returncode
    == 0
)
pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(
        has_all, reason="LOUD: the system's own Python has the packages, so manage.py needs no .venv"
    ),
]
FAKE_DJANGO = """
import sys
def execute_from_command_line(argv):
    print(f"Django {version} in {{sys.prefix}}: {{' '.join(argv[1:])}}")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(MANAGE, tmp_path)
    write_locks(tmp_path, "1.0")
    return tmp_path


@pytest.fixture
def manage(project: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the project's manage.py as somebody does who has just cloned it."""
    environ = {"PATH": os.environ["PATH"], "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(project / "wheels")}
    # The system has a Django of its own, and nothing else of what the console needs.
    environ["PYTHONUSERBASE"] = str(project / "system")
    its_django = project / f"system/lib/{BASE_PYTHON.name}/site-packages/django"
    its_django.mkdir(parents=True)
    (its_django / "__init__.py").touch()

    def manage(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(BASE_PYTHON), str(project / "manage.py"), *arguments]
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    return manage


def write_locks(project: Path, version: str) -> None:
    """Locks that ask for this version of the wheel, and the wheel."""
    wheel = project / "wheels" / f"django-{version}-py3-none-any.whl"
    wheel.parent.mkdir(exist_ok=True)
    info = f"django-{version}.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("django/core/exceptions.py", "class ImproperlyConfigured(Exception): ...")
        archive.writestr("django/db.py", "class OperationalError(Exception): ...\nconnection = None")
        archive.writestr("django/core/management.py", FAKE_DJANGO.format(version=version))
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: django\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    line = f"django=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"
    (project / "requirements.lock").write_text(line)
    (project / "requirements-dev.lock").write_text(f"# and tools\n{line}")


def test_the_environment_is_made_once_and_again_when_it_has_to_be(
    project: Path, manage: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """One story, since making an environment takes long."""
    # As kill -9 in the middle of making it leaves it.
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "bin" / "python").symlink_to(BASE_PYTHON)
    first = manage("up", "--port", "9000")
    assert first.stdout == f"Django 1.0 in {project}/.venv: up --port 9000\n"
    assert "Made .venv from requirements.lock." in first.stderr

    assert manage("up").stderr == ""

    write_locks(project, "2.0")
    changed = manage("up")
    assert changed.stdout == f"Django 2.0 in {project}/.venv: up\n"
    assert "Made .venv from requirements.lock." in changed.stderr

    tests = manage("test")
    assert "Made .venv from requirements-dev.lock." in tests.stderr
    assert manage("up").stderr == ""

    # When pip fails its own words are shown, and the environment is not taken for a finished one.
    write_locks(project, "3.0")
    sound = (project / "requirements-dev.lock").read_text()
    (project / "requirements-dev.lock").write_text("django==3.0 --hash=sha256:" + "0" * 64)
    failed = manage("test")
    assert failed.returncode == 1
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in failed.stderr
    assert failed.stderr.endswith("Redrive could not be installed; the lines above say why.\n")
    (project / "requirements-dev.lock").write_text(sound)
    mended = manage("test")
    assert mended.stdout == f"Django 3.0 in {project}/.venv: test\n"
