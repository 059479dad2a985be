"""`manage.py up`, from the demo shop of a newcomer to a violent end.

One story of one directory, since ten processes take long to start: the demo lives; it is left behind; the console
without it survives the death of any of its processes; its supervisor is killed, and the next start is the last.
"""

import re
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.console import MARKS, READY, Console, free_port
from tests.embedded.processes import is_alive
from tests.visitor import Visitor
from tests.wait import until

pytestmark = pytest.mark.system
# Each on the overview of the demo.
WANTED = (
    "order-summary fails",
    "ledger has stopped on one event",
    r"hooks\.\w+\.example is (open|half open)",
)
# The past takes seconds, and minutes on a machine that is busy with ten other things.
PATIENCE = 300.0


@pytest.fixture(scope="module")
def _under_no_nohup() -> Iterator[None]:
    """What nohup has a program ignore, its children ignore too, and the console means to."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture(scope="module")
def demo(data_dir: Path, _under_no_nohup: None) -> Iterator[Console]:
    """The console with the demo shop."""
    console = Console(data_dir, demo=True)
    console.wait_until_ready()
    yield console
    console.close()


@pytest.fixture(scope="module")
def console(data_dir: Path, demo: Console) -> Iterator[Console]:
    """The console without it, from the same directory, after it."""
    demo.stop(signal.SIGHUP)
    console = Console(data_dir)
    console.wait_until_ready()
    yield console
    console.close()


def visit(console: Console) -> Visitor:
    """Somebody who follows the printed link."""
    base, _, path = console.wait_until_ready().partition("/login/")
    visitor = Visitor(base)
    visitor.get(f"/login/{path}")
    assert visitor.post(f"/login/{path}") == 302
    return visitor


def test_the_demo_lives_within_a_minute(demo: Console) -> None:
    visitor = visit(demo)
    # What is on the overview was really produced: the past is made by the runtime and the breakers.
    for wanted in WANTED:
        until(lambda wanted=wanted: re.search(wanted, visitor.get("/")[1]), PATIENCE)
    until(lambda: "A past of" in demo.output, PATIENCE)
    assert "Your first visit" in visitor.get("/")[1]
    assert "The demo shop runs version 1.7.2, which has a bug" in visitor.get("/demo/")[1]
    assert "ERROR" not in demo.output


def test_it_says_once_where_it_is(console: Console) -> None:
    [link] = READY.findall(console.output)
    base = f"http://127.0.0.1:{console.port}"
    assert link.startswith(f"{base}/login/")
    assert console.status(link.removeprefix(base)) == 200
    assert console.status("/healthz") == 200
    assert console.status("/readyz") == 200


def test_the_demo_is_left_behind_without_a_trace(console: Console) -> None:
    visitor = visit(console)
    overview = visitor.get("/")[1]
    assert "All quiet" in overview
    assert "Your first visit" not in overview
    assert visitor.get("/demo/")[0] == 404
    assert "order-summary" not in visitor.get("/projections/")[1]


def test_every_other_line_says_who_wrote_it(console: Console) -> None:
    names = {
        line.partition(" | ")[0].strip() for line in console.output.splitlines() if not READY.match(line)
    }
    assert names <= {*MARKS, "redrive"}


def test_a_second_start_says_that_it_is_running(
    console: Console, data_dir: Path, start_console: Callable[..., Console]
) -> None:
    second = start_console(data_dir)
    assert second.wait() == 1
    [sentence] = second.output.splitlines()
    assert sentence == f"Redrive is already running (pid {console.pid}, http://127.0.0.1:{console.port})."


@pytest.mark.parametrize("name", MARKS)
def test_kill_9_of_a_child_is_recovered(console: Console, name: str) -> None:
    victim = until(lambda: console.find_child(name))
    victim.kill()
    until(lambda: (found := console.find_child(name)) and found.pid != victim.pid)
    until(lambda: console.status("/readyz") == 200)


def test_a_taken_port_is_one_sentence(tmp_path: Path, start_console: Callable[..., Console]) -> None:
    with socket.create_server(("127.0.0.1", free_port())) as other:
        port = other.getsockname()[1]
        console = start_console(tmp_path, port=port)
        assert console.wait() == 1
    assert console.output == (
        f"Port {port} cannot be used (Address already in use); choose another one with --port.\n"
    )


def test_a_directory_that_cannot_be_written_is_one_sentence(start_console: Callable[..., Console]) -> None:
    # Not even root can make a directory here.
    console = start_console(Path("/proc/redrive"))
    assert console.wait() == 1
    [sentence] = console.output.splitlines()
    assert sentence.startswith("Redrive cannot write to /proc/redrive (")
    assert sentence.endswith("); choose another place with --data.")


def test_a_stop_while_it_starts_is_clean(tmp_path: Path, start_console: Callable[..., Console]) -> None:
    console = start_console(tmp_path)
    until(lambda: "postgres" in console.output)
    console.signal(signal.SIGTERM)
    assert console.wait() == 0
    assert not READY.search(console.output)


def test_kill_9_of_the_supervisor_leaves_nothing_and_the_next_start_waits_for_that(
    console: Console, data_dir: Path, start_console: Callable[..., Console]
) -> None:
    """The last test of this console."""
    family = console.family()
    console.signal(signal.SIGKILL)
    console.wait()
    second = start_console(data_dir, port=console.port)
    second.wait_until_ready()
    assert not any(map(is_alive, family))
    second.stop(signal.SIGINT)
