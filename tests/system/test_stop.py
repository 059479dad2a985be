"""The end of a console: asked for, or violent."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.console import READY, Console
from tests.embedded.processes import is_alive
from tests.wait import until

pytestmark = pytest.mark.system


@pytest.fixture(autouse=True)
def _under_no_nohup() -> Iterator[None]:
    """What nohup has a program ignore, its children ignore too, and the console means to."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_everything(
    number: signal.Signals, data_dir: Path, start_console: Callable[..., Console]
) -> None:
    console = start_console(data_dir)
    console.wait_until_ready()
    family = console.family()
    console.signal(number)
    # Impatience is harmless.
    console.signal(number)
    assert console.wait() == 0
    assert console.output.splitlines()[-1] == "redrive     | Stopped."
    assert not any(map(is_alive, family))


def test_kill_9_of_the_supervisor_leaves_nothing_and_the_next_start_waits_for_that(
    data_dir: Path, start_console: Callable[..., Console]
) -> None:
    first = start_console(data_dir)
    first.wait_until_ready()
    family = first.family()
    first.signal(signal.SIGKILL)
    first.wait()
    second = start_console(data_dir, port=first.port)
    second.wait_until_ready()
    assert not any(map(is_alive, family))


def test_a_stop_while_it_starts_is_clean(tmp_path: Path, start_console: Callable[..., Console]) -> None:
    console = start_console(tmp_path)
    until(lambda: "postgres" in console.output)
    console.signal(signal.SIGINT)
    assert console.wait() == 0
    assert not READY.search(console.output)
