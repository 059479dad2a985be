"""One console: it comes up, says where it is, and survives the death of any of its processes."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.console import MARKS, READY, Console, free_port
from tests.wait import until

pytestmark = pytest.mark.system


def test_it_says_once_where_it_is(console: Console) -> None:
    [link] = READY.findall(console.output)
    base = f"http://127.0.0.1:{console.port}"
    assert link.startswith(f"{base}/login/")
    assert console.status(link.removeprefix(base)) == 200
    assert console.status("/healthz") == 200
    assert console.status("/readyz") == 200


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
