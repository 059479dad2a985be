import signal
import sys
from io import StringIO
from pathlib import Path

import psutil
import pytest

from dashboard.embedded import supervisor as module
from dashboard.embedded.errors import EmbeddedError
from dashboard.embedded.program import Program
from dashboard.embedded.supervisor import StopRequested, Supervisor
from tests.embedded.processes import is_alive
from tests.wait import until


def shell(script: str, name: str = "app", *, is_store: bool = False) -> Program:
    return Program(name, ["/bin/sh", "-c", script], is_store=is_store)


def pids_in(file: Path) -> list[int]:
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def test_each_line_says_who_wrote_it(supervisor: Supervisor, output: StringIO) -> None:
    supervisor.start(shell("echo one; echo two >&2; sleep 1000"))
    until(lambda: output.getvalue() == "app         | one\napp         | two\n")


def test_a_child_that_dies_is_started_again_without_its_remains(
    supervisor: Supervisor, tmp_path: Path, output: StringIO
) -> None:
    supervisor.start(shell(f"sleep 1000 & echo $! $$ >> {tmp_path}/pids; wait"))
    grandchild, child = until(lambda: pids_in(tmp_path / "pids"))
    psutil.Process(child).kill()
    until(lambda: len(pids_in(tmp_path / "pids")) == 4)
    assert not is_alive(grandchild)
    assert "app died (SIGKILL); starting it again." in output.getvalue()


def test_a_child_that_keeps_dying_is_given_up_and_its_last_words_are_shown(supervisor: Supervisor) -> None:
    supervisor.start(shell("echo my port is taken; exit 3"))
    with pytest.raises(EmbeddedError) as caught:
        supervisor.wait_until(lambda: False, 60)
    first, *rest = str(caught.value).splitlines()
    assert first == "app died 5 times within a minute (exit code 3); it said last:"
    assert rest == ["    my port is taken"]


def test_stores_stop_after_applications(supervisor: Supervisor, output: StringIO) -> None:
    script = "trap 'echo stopping; exit' TERM; echo up; while :; do sleep 0.05; done"
    supervisor.start(shell(script, "store", is_store=True), shell(script))
    until(lambda: output.getvalue().count("up") == 2)
    supervisor.stop()
    assert output.getvalue().splitlines()[-2:] == ["app         | stopping", "store       | stopping"]


def test_a_child_that_does_not_stop_is_killed(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.2)
    supervisor.start(shell(f"trap '' TERM; echo $$ > {tmp_path}/pids; while :; do sleep 1; done"))
    [child] = until(lambda: pids_in(tmp_path / "pids"))
    supervisor.stop()
    assert not is_alive(child)


def test_a_program_that_runs_once_returns_what_it_printed(supervisor: Supervisor) -> None:
    assert supervisor.run(shell("echo one; echo two")) == ["one", "two"]
    with pytest.raises(EmbeddedError, match=r"app failed \(exit code 2\):\nno luck"):
        supervisor.run(shell("echo no luck; exit 2"))


def test_a_signal_ends_the_wait(supervisor: Supervisor) -> None:
    before = signal.getsignal(signal.SIGUSR1)
    try:
        supervisor.stop_on(signal.SIGUSR1)
        signal.raise_signal(signal.SIGUSR1)
        with pytest.raises(StopRequested):
            supervisor.wait()
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_the_program_sees_no_more_input_than_the_word(supervisor: Supervisor) -> None:
    assert supervisor.run(
        Program("cat", [sys.executable, "-c", "print(repr(input and open(0).read()))"])
    ) == ["''"]
