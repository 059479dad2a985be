"""A run from request to end, in real workers."""

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from dashboard.models import Run
from dashboard.runs import dispatch, operations
from dashboard.runs.states import RunStateError
from tests.processes import running_worker
from tests.tally.models import Mark
from tests.tally.operations import start_tally
from tests.wait import until

pytestmark = pytest.mark.django_db(transaction=True)


IsState = Callable[..., bool]


def test_a_run_finishes_and_every_item_is_done_once_and_in_order(
    tmp_path: Path, is_state: IsState, assert_done_once: Callable[[Run], None]
) -> None:
    with running_worker(tmp_path / "worker.log"):
        run = start_tally(23, 7, 0)
        until(lambda: is_state(run, "finished"))
    assert_done_once(run)
    assert list(run.events.order_by("id").values_list("state", flat=True)) == [
        "pending",
        "running",
        "finished",
    ]


def test_a_double_click_is_one_run() -> None:
    key = uuid4()
    assert start_tally(5, request_key=key) == start_tally(5, request_key=key)
    assert Run.objects.count() == 1


def test_a_run_pauses_keeps_its_place_and_goes_on(tmp_path: Path, is_state: IsState) -> None:
    with running_worker(tmp_path / "worker.log"):
        run = start_tally(2000, 2000, slice=2, sleep=0.02)
        until(lambda: Mark.objects.exists())
        operations.pause_run(run, actor="someone")
        until(lambda: is_state(run, "paused"))
        done = Mark.objects.count()
        assert 0 < done < 4000
        assert not run.lanes.exclude(leased_until=None).exists()
        run.lanes.update(total=done)
        operations.resume_run(run, actor="someone")
        until(lambda: is_state(run, "finished"))
    assert Mark.objects.count() == 2 * done


def test_a_cancelled_run_does_nothing_more(tmp_path: Path, is_state: IsState) -> None:
    with running_worker(tmp_path / "worker.log"):
        run = start_tally(5000, slice=2, sleep=0.02)
        until(lambda: Mark.objects.exists())
        operations.cancel_run(run, actor="someone", reason="a mistake")
        until(lambda: is_state(run, "cancelled"))
        done = Mark.objects.count()
        dispatch.dispatch(run)
        other = start_tally(5)
        until(lambda: is_state(other, "finished"))
    assert Mark.objects.filter(run_id=run.pk).count() == done


def test_a_pending_run_is_paused_at_once(is_state: IsState) -> None:
    run = start_tally(5)
    operations.pause_run(run, actor="someone")
    assert is_state(run, "paused")


def test_a_run_that_has_ended_cannot_be_paused() -> None:
    run = start_tally(5)
    operations.cancel_run(run, actor="someone", reason="")
    with pytest.raises(RunStateError, match="cancelled"):
        operations.pause_run(run, actor="someone")


def test_a_run_whose_slices_keep_failing_fails_with_the_reason(tmp_path: Path, is_state: IsState) -> None:
    with running_worker(tmp_path / "worker.log"):
        run = start_tally(5, **{"raise": True})
        until(lambda: retry_at_once(run) and is_state(run, "failed"))
    assert run.failure == "RuntimeError: this tally is broken"


def retry_at_once(run: Run) -> bool:
    """Stand in for beat, without its patience."""
    run.lanes.update(not_before=None, dispatched_at=None)
    dispatch.tend_runs()
    return True
