import shutil
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest

from dashboard.embedded.addresses import socket_dir
from dashboard.embedded.guard import Guard
from dashboard.embedded.log import Log
from dashboard.embedded.supervisor import Supervisor


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """A data directory; its sockets may be elsewhere, because pytest's paths are long."""
    yield tmp_path
    shutil.rmtree(socket_dir(tmp_path), ignore_errors=True)


@pytest.fixture
def output() -> StringIO:
    """What the supervisor printed."""
    return StringIO()


@pytest.fixture
def start_supervisor(output: StringIO) -> Iterator[Callable[[], Supervisor]]:
    """Makes supervisors that stop with the test."""
    supervisors = []

    def start() -> Supervisor:
        supervisors.append(Supervisor(Log(output), Guard()))
        return supervisors[-1]

    yield start
    for supervisor in supervisors:
        supervisor.stop()


@pytest.fixture
def supervisor(start_supervisor: Callable[[], Supervisor]) -> Supervisor:
    return start_supervisor()
