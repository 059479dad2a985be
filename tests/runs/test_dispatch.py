"""Messages are hints: too many do no harm, and none is sent for what is not due."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from dashboard.models import Lane, Run
from dashboard.redis import get_redis
from dashboard.runs import dispatch, lanes, worker
from dashboard.runs.kinds import Step
from dashboard.runs.operations import create_run
from tests.tally.models import Mark
from tests.tally.operations import start_tally

pytestmark = pytest.mark.django_db(transaction=True)


def count_messages(queue: str = "runs") -> int:
    return int(get_redis().llen(queue))


def test_while_nobody_takes_messages_the_queue_does_not_grow() -> None:
    start_tally(5, 5, 5)
    assert count_messages() == 3
    Lane.objects.update(dispatched_at=timezone.now() - timedelta(hours=1))
    for _ in range(3):
        dispatch.tend_runs()
    assert count_messages() == 3


def test_a_lane_whose_time_has_come_gets_its_message_however_many_wait_for_others() -> None:
    run = start_tally(3)
    hold = lanes.claim(run.pk, 0, 0, holder="somebody")
    assert hold is not None
    start_tally(5, 5, 5)
    lanes.release(hold, Step(wait_until=timezone.now()))
    before = count_messages()
    dispatch.tend_runs()
    assert count_messages() == before + 1


def test_a_lane_whose_worker_died_gets_its_message_however_many_wait_for_others() -> None:
    run = start_tally(3)
    lanes.claim(run.pk, 0, 0, holder="gone")
    start_tally(5, 5, 5)
    Lane.objects.filter(run=run).update(leased_until=run.created_at)
    before = count_messages()
    dispatch.tend_runs()
    assert count_messages() == before + 1
    assert lanes.claim(run.pk, 0, Lane.objects.get(run=run).epoch, holder="successor")


def test_after_redis_was_emptied_every_lane_gets_a_message_again() -> None:
    start_tally(5, 5, 5)
    get_redis().flushdb()
    Lane.objects.update(dispatched_at=timezone.now() - timedelta(hours=1))
    dispatch.tend_runs()
    assert count_messages() == 3


@pytest.mark.parametrize(
    ("kind", "queue"), [("replay", "replays"), ("rebuild", "rebuilds"), ("import", "runs")]
)
def test_each_kind_has_its_queue_and_waits_for_no_other(kind: str, queue: str) -> None:
    start_tally(*[1] * 20)
    get_redis().rename("runs", "housekeeping")
    create_run(kind, title="", lane_totals=[1, 1], request_key=uuid4(), actor="tester")
    dispatch.tend_runs()
    assert count_messages(queue) == 2


def test_lanes_of_a_queue_that_nobody_takes_do_not_stand_before_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dispatch, "PASS_SIZE", 3)
    start_tally(1, 1, 1, 1)
    create_run("replay", title="", lane_totals=[1, 1], request_key=uuid4(), actor="tester")
    Lane.objects.update(dispatched_at=timezone.now() - timedelta(hours=1))
    dispatch.tend_runs()
    assert count_messages("replays") == 2


def test_runs_that_wait_do_not_stand_before_one_that_was_asked_to_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dispatch, "PASS_SIZE", 2)
    for _ in range(3):
        start_tally(1)
    ending = start_tally(1)
    # Its worker has died since it was asked.
    Run.objects.filter(pk=ending.pk).update(state="cancelling")
    dispatch.tend_runs()
    ending.refresh_from_db()
    assert ending.state == "cancelled"


def test_a_run_whose_code_is_gone_is_sent_to_the_common_queue() -> None:
    start_tally(1, 1)
    Run.objects.update(kind="no-such-kind")
    get_redis().flushdb()
    Lane.objects.update(dispatched_at=None)
    dispatch.tend_runs()
    assert count_messages() == 2


def test_a_long_lane_goes_to_the_back_of_the_queue_after_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "TURN_SECONDS", 0.0)
    run = start_tally(3, slice=1)
    get_redis().flushdb()
    worker.run_lane(run.pk, 0, 0)
    assert (count_messages(), Lane.objects.get().is_done) == (1, False)


def test_of_two_messages_for_one_turn_only_the_first_is_acted_on() -> None:
    run = start_tally(3, slice=1)
    assert lanes.claim(run.pk, 0, 0, holder="first") is not None
    Lane.objects.update(leased_until=None)
    assert lanes.claim(run.pk, 0, 0, holder="second") is None


def test_a_lane_that_waits_is_sent_as_soon_as_its_time_has_come() -> None:
    run = start_tally(3)
    get_redis().flushdb()
    hold = lanes.claim(run.pk, 0, 0, holder="somebody")
    assert hold is not None
    lanes.release(hold, Step(wait_until=timezone.now() + timedelta(hours=1)))
    dispatch.tend_runs()
    assert count_messages() == 0
    Lane.objects.update(not_before=timezone.now())
    dispatch.tend_runs()
    assert count_messages() == 1


def test_a_slice_that_records_and_then_raises_ends_in_failure() -> None:
    """A recording without progress does not make the errors before it forgotten."""
    run = start_tally(3, raise_after_recording=True)
    for _ in range(worker.MOST_ERRORS):
        Lane.objects.update(not_before=None)
        worker.run_lane(run.pk, 0, Lane.objects.get().epoch)
    run.refresh_from_db()
    assert (run.state, run.failure) == (Run.State.FAILED, "RuntimeError: this tally is broken")
    assert not Mark.objects.exists()
