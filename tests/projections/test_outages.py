"""What an outage leaves behind: nothing that outlives it, and no event that pays for it."""

from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from breakers.api import BreakerOpen
from dlq.models import DeadLetter
from projections.definition import find_projector
from projections.models import Projection, WaitingEvent
from projections.operations import start_rebuild
from projections.runtime.consumer import take_turn_safely
from projections.runtime.trial import token_of
from tests.dlq.replay.conftest import run_all
from tests.projections.conftest import RecordedClock
from tests.shop import faults
from tests.shop.models import Fault

Pay = Callable[..., int]
Work = Callable[..., Projection]
Positions = Callable[[str], list[int]]


@pytest.fixture
def fail(clock: RecordedClock) -> Callable[[str], Projection]:
    """A turn that our own database ends; what it blocked is due again afterwards."""

    def fail(name: str) -> Projection:
        projector = find_projector(name)
        assert projector is not None
        take_turn_safely(projector, clock)
        clock.sleep(60)
        return Projection.objects.get(name=name)

    return fail


def test_an_event_that_waits_for_a_breaker_is_tried_after_an_outage_though_no_other_comes(
    pay: Pay, work: Work, fail: Callable[[str], Projection], clock: RecordedClock, applied: Positions
) -> None:
    pay("a", 1, mark="x", how="breaker")
    work("letters")
    clock.sleep(60)
    Fault.objects.update(how="OperationalError")
    assert fail("letters").block == "infrastructure"
    Fault.objects.all().delete()
    row = work("letters")
    assert applied("letters") == [1]
    assert (row.block, row.blocked_since, row.error_type) == ("", None, "")


def test_an_outage_while_an_event_waits_is_no_death(
    pay: Pay, work: Work, fail: Callable[[str], Projection], clock: RecordedClock, applied: Positions
) -> None:
    pay("a", 1, mark="x", how="breaker")
    work("letters")
    clock.sleep(60)
    Fault.objects.update(how="OperationalError")
    for _ in range(5):
        fail("letters")
    assert WaitingEvent.objects.get().deaths == 0
    Fault.objects.all().delete()
    work("letters")
    assert applied("letters") == [1]
    assert not DeadLetter.objects.exists()


def test_a_process_that_is_started_anew_in_an_outage_has_not_died_of_the_event(
    pay: Pay, work: Work, fail: Callable[[str], Projection], applied: Positions
) -> None:
    pay("a", 1, mark="x", how="OperationalError")
    for _ in range(5):
        fail("letters")
        # The next process finds what this one has noted, and that it was long ago.
        token_of.cache_clear()
        Projection.objects.update(trial_at=timezone.now() - timedelta(minutes=1))
    assert Projection.objects.get(name="letters").deaths == 0
    Fault.objects.all().delete()
    work("letters")
    assert applied("letters") == [1]
    assert not DeadLetter.objects.exists()


def test_a_process_that_has_only_just_failed_takes_its_note_back_before_it_counts_as_dead(
    pay: Pay, work: Work, clock: RecordedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had the lock for as long as its try took, and whoever waited for the lock is there first."""
    pay("a", 1)
    note = {"trial_by": uuid4(), "trial_at": timezone.now() - timedelta(minutes=1), "trial_to": 1}
    Projection.objects.filter(name="letters").update(**note)
    deaths = []

    def take_back(seconds: float) -> None:
        deaths.append(Projection.objects.get(name="letters").deaths)
        Projection.objects.filter(name="letters").update(trial_by=None)

    monkeypatch.setattr(clock, "sleep", take_back)
    row = work("letters")
    assert (deaths, row.deaths, row.careful_to, row.position) == ([0], 0, 0, 1)


def test_an_outage_uses_up_no_try_of_an_event_that_waits(pay: Pay, work: Work, clock: RecordedClock) -> None:
    pay("a", 1, mark="x", how="breaker")
    work("hybrid")
    Fault.objects.update(how="DiskFull")
    for _ in range(3):
        clock.sleep(60)
        work("hybrid")
    assert WaitingEvent.objects.get().attempt == 0
    Fault.objects.update(how="TimeoutError")
    clock.sleep(60)
    work("hybrid")
    # The first retry of this policy comes at once.
    assert WaitingEvent.objects.get().attempt == 2


def test_an_event_that_waits_in_a_rebuild_counts_once(
    pay: Pay, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    class InTurn(Exception):
        def __copy__(self) -> Exception:
            return next(errors)

    refused = BreakerOpen("prices", 0.0)
    # In the batch, in the search for the culprit, and when its turn has come.
    errors = iter([refused, refused, ValueError("no")])
    pay("a", 1, mark="x")
    pay("a", 2)
    pay("b", 3)
    row = work("letters")
    Fault.objects.create(mark="x", how="in turn")
    monkeypatch.setitem(faults.ERRORS, "in turn", InTurn())
    run = run_all(start_rebuild(row, actor="ada", reason="drift", request_key=uuid4()))
    assert run.lanes.get().totals == {"processed": 1, "parked": 1, "dead_lettered": 1}


def test_a_rebuild_waits_for_the_end_of_an_outage_and_says_so(
    pay: Pay, work: Work, applied: Positions
) -> None:
    pay("a", 1, mark="x", how="ValueError")
    pay("b", 2)
    Fault.objects.all().delete()
    row = work("letters")
    Fault.objects.create(mark="x", how="OperationalError")
    run = run_all(start_rebuild(row, actor="ada", reason="drift", request_key=uuid4()), rounds=8)
    assert (run.state, Projection.objects.get(name="letters").state) == ("running", "rebuilding")
    notes = run.events.values_list("note", flat=True)
    assert "It waits until the outage is over: the connection is lost" in notes
    Fault.objects.all().delete()
    assert run_all(run).state == "finished"
    assert applied("letters") == [1, 2]
    assert not DeadLetter.objects.exists()
