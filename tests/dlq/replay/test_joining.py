"""Letters that are parked behind a replay while it runs: it takes them along, and does not run after them for ever."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dashboard.models import Run
from dashboard.runs import lanes
from dashboard.runs.kinds import DONE, MORE, Step
from dlq.models import DeadLetter
from dlq.replay.kind import Replay
from dlq.replay.options import ReplayOptions
from projections.models import Projection
from tests.dlq.replay.conftest import run_all, totals
from tests.dlq.replay.test_deaths import tended_until
from tests.processes import running_worker

ONE_LANE = ReplayOptions(canary=False, stop_after=None, lanes=1)
LADDER = ReplayOptions(canary=True, lanes=1)
PACED = ReplayOptions(canary=False, stop_after=None, lanes=1, pace=8)


@pytest.fixture
def parked_late(
    fail: Callable[..., None],
    mend: Callable[..., None],
    pay: Callable[..., int],
    work: Callable[..., Projection],
    start: Callable[..., Run],
) -> Callable[..., Run]:
    """A replay of two letters of a stream, behind which more are parked before its first slice."""

    def parked_late(options: ReplayOptions = ONE_LANE, *, consumer: str = "letters", how: str = "") -> Run:
        fail("a", events=2, consumer=consumer)
        mend()
        run = start(options=options)
        pay("a", 3)
        pay("a", 4, mark="late", how=how)
        work(consumer)
        return run

    return parked_late


def play_slices(run: Run, number: int) -> list[Step]:
    """What a worker does that has the lane for so many slices."""
    lane = run.lanes.get()
    hold = lanes.claim(run.pk, 0, lane.epoch, holder="test")
    assert hold
    steps = [Replay().work(hold) for _ in range(number)]
    lanes.release(hold, steps[-1])
    return steps


def test_those_parked_by_now_are_played_before_live_consumption_can_park_more(
    parked_late: Callable[..., Run], applied: Callable[[str], list[int]]
) -> None:
    run = parked_late()
    assert play_slices(run, 2) == [MORE, DONE]
    assert applied("letters") == [1, 2, 3, 4]
    assert set(DeadLetter.objects.values_list("status", flat=True)) == {"resolved"}
    assert (totals(run), run.lanes.get().total) == ({"succeeded": 4}, 4)


def test_if_one_of_them_fails_it_fails_alone(
    parked_late: Callable[..., Run], applied: Callable[[str], list[int]]
) -> None:
    run = run_all(parked_late(how="ValueError"))
    assert totals(run) == {"succeeded": 3, "new_error": 1}
    assert applied("letters") == [1, 2, 3]
    assert DeadLetter.objects.get(status="failed").sequence_no == 4


def test_on_the_ladder_they_come_with_the_rest(parked_late: Callable[..., Run]) -> None:
    run = parked_late(LADDER)
    play_slices(run, 1)
    assert totals(run) == {"succeeded": 1}
    assert totals(run_all(run)) == {"succeeded": 4}


def test_a_pace_is_kept(parked_late: Callable[..., Run]) -> None:
    run = parked_late(PACED)
    play_slices(run, 1)
    assert totals(run) == {"succeeded": 2}
    assert totals(run_all(run)) == {"succeeded": 4}


def test_effects_outside_stay_one_event_a_commit(parked_late: Callable[..., Run]) -> None:
    run = parked_late(consumer="mailer")
    play_slices(run, 1)
    assert totals(run) == {"succeeded": 1}
    assert totals(run_all(run)) == {"succeeded": 4}


def test_one_of_them_that_kills_its_worker_is_found_and_costs_no_other_letter(
    parked_late: Callable[..., Run], applied: Callable[[str], list[int]], tmp_path: Path
) -> None:
    run = parked_late(how="exit")
    with running_worker(tmp_path / "worker.log"):
        tended_until(run, "finished")
    assert totals(run) == {"succeeded": 3, "new_error": 1}
    assert applied("letters") == [1, 2, 3]
    assert DeadLetter.objects.get(tier="poison").sequence_no == 4
