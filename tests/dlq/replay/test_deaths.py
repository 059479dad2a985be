"""Letters that kill their worker, or never come back from it, in real workers that really die."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dashboard.models import Run
from dashboard.runs import lanes
from dashboard.runs.dispatch import tend_runs
from dashboard.runs.lanes import LaneLostError
from dlq.models import Attempt, DeadLetter, LetterRunItem
from dlq.replay import outside
from dlq.replay.options import ReplayOptions
from dlq.replay.trial import Trial
from dlq.targets.http import HttpTarget
from tests.dlq.replay.conftest import totals
from tests.dlq.replay.server import running_server
from tests.processes import running_worker
from tests.shop.models import Fault
from tests.wait import until


def tended_until(run: Run, state: str) -> None:
    """Do what beat does, until the run is there."""

    def is_there() -> bool:
        tend_runs()
        run.refresh_from_db()
        return run.state == state

    until(is_there, 60)


@pytest.mark.parametrize("consumer", ["letters", "mailer"])
def test_the_third_death_makes_a_letter_poison_and_the_run_goes_on(
    fail: Callable[..., None],
    start: Callable[..., Run],
    applied: Callable[[str], list[int]],
    tmp_path: Path,
    consumer: str,
) -> None:
    streams = [f"s{n}" for n in range(20)]
    fail(*streams, events=2, consumer=consumer)
    Fault.objects.exclude(mark="s7").delete()
    Fault.objects.update(how="exit")
    run = start()
    with running_worker(tmp_path / "worker.log"):
        tended_until(run, "finished")
    assert totals(run) == {"succeeded": 38, "new_error": 1, "held": 1}
    letter = DeadLetter.objects.get(sequence_key="s7", sequence_no=1)
    assert (letter.status, letter.tier, letter.category) == ("failed", "poison", "poison")
    assert letter.error_type == "WorkerDied"
    done = applied(consumer)
    assert len(done) == len(set(done)) == 38


def test_a_handler_that_hangs_is_interrupted_and_that_is_a_failed_attempt(
    fail: Callable[..., None], start: Callable[..., Run], tmp_path: Path
) -> None:
    fail("a", "b", consumer="mailer")
    Fault.objects.filter(mark="b").delete()
    Fault.objects.update(how="hang")
    run = start()
    with running_worker(tmp_path / "worker.log"):
        tended_until(run, "finished")
    assert totals(run) == {"succeeded": 3, "new_error": 1, "held": 2}
    assert Attempt.objects.get(outcome="failed", run=run).error_type == "HandlerTimeoutError"


def test_a_worker_that_is_killed_in_the_middle_loses_nothing_and_does_nothing_twice(
    fail: Callable[..., None],
    start: Callable[..., Run],
    mend: Callable[..., None],
    applied: Callable[[str], list[int]],
    tmp_path: Path,
) -> None:
    fail(*(f"s{n}" for n in range(200)), events=5)
    mend()
    run = start()
    with running_worker(tmp_path / "first.log") as worker:
        until(lambda: applied("letters"))
        worker.kill()
    assert len(applied("letters")) < 1000
    with running_worker(tmp_path / "second.log"):
        tended_until(run, "finished")
    assert totals(run) == {"succeeded": 1000}
    assert sorted(applied("letters")) == list(range(1, 1001))


def test_a_worker_that_comes_too_late_to_send_under_watch_has_not_died(
    make_letters: Callable[..., list[DeadLetter]],
    start: Callable[..., Run],
    settings: Any,
    patient_lanes: None,
) -> None:
    with running_server() as server:
        settings.TARGETS = {"orders-api": {"kind": "http", "url": server.url}}
        settings.CONSUMERS = {"kafka/billing": {"target": "orders-api"}}
        make_letters(1, payload={"how": 200}, source="kafka")
        run = start(options=ReplayOptions(canary=False, lanes=1))
        LetterRunItem.objects.update(deaths=1)
        hold = lanes.claim(run.pk, 0, 0, holder="test")
        assert hold is not None
        trial = Trial([LetterRunItem.objects.get().pk], "kafka", "billing", is_watched=True, is_deadly=False)
        slow = HttpTarget("orders-api", server.url, timeout_seconds=2 * hold.remaining_seconds)
        with pytest.raises(LaneLostError, match="too late"):
            outside.play(hold, slow, trial)
        assert (server.events, LetterRunItem.objects.get().deaths) == ([], 1)
