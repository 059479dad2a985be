import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.embedded.processes import is_alive
from tests.wait import until

# A supervisor in a process of its own, so that it can be killed. Each of its children has a child too.
SUPERVISOR = """
import sys
from dashboard.embedded.guard import Guard
from dashboard.embedded.log import Log
from dashboard.embedded.program import Program
from dashboard.embedded.supervisor import Supervisor

script = "trap 'echo $0 stopped >> $1; exit' TERM; sleep 999 & echo $0 up >> $1; while :; do sleep 0.05; done"
with Supervisor(Log(), Guard()) as supervisor:
    for name in "store", "application":
        command = ["/bin/sh", "-c", script, name, sys.argv[1]]
        supervisor.start(Program(name, command, is_store=name == "store"))
    supervisor.wait()
"""


@pytest.fixture
def story(tmp_path: Path) -> Path:
    """Where the children write what they do."""
    return tmp_path / "story"


@pytest.fixture
def doomed(story: Path) -> Iterator[psutil.Process]:
    """A running supervisor with its guardian and two children."""
    process = subprocess.Popen([sys.executable, "-c", SUPERVISOR, str(story)])
    until(lambda: story.exists() and story.read_text().count("up") == 2)
    yield psutil.Process(process.pid)
    process.kill()
    process.wait()


def find_guardian(supervisor: psutil.Process) -> psutil.Process | None:
    return next(filter(is_guardian, supervisor.children()), None)


def is_guardian(process: psutil.Process) -> bool:
    """One that was killed just now stays for an instant without a command line, or is gone while it is asked."""
    try:
        return any("guardian.py" in word for word in process.cmdline())
    except psutil.NoSuchProcess:
        return False


def test_kill_9_of_the_supervisor_leaves_nothing(doomed: psutil.Process, story: Path) -> None:
    family = [child.pid for child in doomed.children(recursive=True)]
    assert len(family) >= 5
    doomed.kill()
    until(lambda: not any(map(is_alive, family)))
    # They were asked, in the order in which an ordinary stop asks.
    assert story.read_text().splitlines()[-2:] == ["application stopped", "store stopped"]


def test_a_killed_guardian_is_replaced_by_one_that_knows_everything(doomed: psutil.Process) -> None:
    first = until(lambda: find_guardian(doomed))
    first.kill()
    until(lambda: (found := find_guardian(doomed)) and found.pid != first.pid)
    family = [child.pid for child in doomed.children(recursive=True)]
    os.kill(doomed.pid, 9)
    until(lambda: not any(map(is_alive, family)))
