import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dashboard.embedded.addresses import socket_dir
from tests.console import Console


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One for all consoles, one after the other: only the first has to make a database."""
    path = tmp_path_factory.mktemp("console")
    yield path
    shutil.rmtree(socket_dir(path), ignore_errors=True)


@pytest.fixture
def start_console() -> Iterator[Callable[..., Console]]:
    """Starts consoles that end with the test."""
    consoles = []

    def start(*arguments: object, **options: object) -> Console:
        consoles.append(Console(*arguments, **options))  # type: ignore[arg-type]
        return consoles[-1]

    yield start
    for console in consoles:
        console.close()
