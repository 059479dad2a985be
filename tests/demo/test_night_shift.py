"""The night shift: deals with what has waited for hours, on record, and with nothing else."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from breakers.models import Trip
from breakers.operations import trip_breaker
from dashboard.models import AuditEntry, Run
from demo.models import OrderSummary, Shop
from demo.night_shift import ACTOR, NightShift
from demo.pricing import get_shop
from demo.sink import Sink
from dlq.items import release_ended
from dlq.models import DeadLetter, FailureGroup, ReplaySwitch
from dlq.operations import start_replay, stop_replays
from dlq.queries.replay import preview_replay
from dlq.replay.options import ReplayOptions
from dlq.selection import select_group
from projections.definition import find_projector
from projections.models import Projection
from projections.runtime.clock import SystemClock
from projections.runtime.hand import LIVE
from projections.runtime.turn import take_turn
from projections.store import NewEvent, append
from tests.dlq.replay.conftest import run_all, totals


@pytest.fixture
def shop(sink: Sink) -> Shop:
    """A ledger that has just stopped, and an order that the bug has just hit."""
    Shop.objects.update(patch=2)
    get_shop.forget()
    placed = {"order": "order-1", "customer": {"name": "ines"}, "total": 500, "currency": "CHF"}
    money = {"order": "order-1", "escrow": "escrow-1", "currency": "CHF"}
    append(
        "order-1",
        [
            NewEvent("OrderPlaced", placed),
            NewEvent("PaymentCaptured", money | {"amount": 500}),
            NewEvent("EscrowFunded", money | {"amount": 500}),
            NewEvent("EscrowReleased", money | {"amount": 5000}),
        ],
    )
    append("order-2", [NewEvent("OrderPlaced", placed | {"order": "order-2", "total": "5,00"})])
    for name in ("ledger", "order-summary"):
        projector = find_projector(name)
        assert projector
        while take_turn(projector, LIVE, SystemClock()) == 0:
            pass
    return Shop.objects.get()


def look_around(*, after: timedelta, speed: int = 1) -> None:
    get_shop.forget()
    now = timezone.now()
    NightShift(now - timedelta(days=1), speed=speed).look_around(now + after)


def replay_as_visitor(**options: bool) -> Run:
    selection = select_group(FailureGroup.objects.get(error_type="KeyError"))
    run = start_replay(
        selection,
        confirmed=preview_replay(selection).count,
        options=ReplayOptions(**options),
        actor="ines",
        request_key=uuid4(),
    )
    return run_all(run)


def test_it_leaves_alone_what_has_not_waited(shop: Shop) -> None:
    look_around(after=timedelta(minutes=1))
    assert not AuditEntry.objects.exists()
    assert Projection.objects.get(name="ledger").state == "stopped"


def test_what_stood_still_with_the_shop_has_not_waited(shop: Shop) -> None:
    now = timezone.now()
    NightShift(now, speed=1).look_around(now + timedelta(minutes=59))
    assert not AuditEntry.objects.exists()


def test_what_slept_with_the_machine_has_not_waited(shop: Shop) -> None:
    now = timezone.now()
    night_shift = NightShift(now - timedelta(days=1), speed=1)
    woke_at = now + timedelta(days=2)
    night_shift.sleeps.append((now + timedelta(minutes=30), woke_at))
    night_shift.look_around(woke_at + timedelta(minutes=19))
    assert not AuditEntry.objects.exists()
    night_shift.look_around(woke_at + timedelta(minutes=31))
    assert Projection.objects.get(name="ledger").state == "running"
    assert not DeadLetter.objects.exclude(closed_by="").exists()


def test_a_ledger_that_nobody_decided_about_goes_on_with_a_letter(shop: Shop) -> None:
    look_around(after=timedelta(hours=1))
    assert Projection.objects.get(name="ledger").state == "running"
    assert DeadLetter.objects.get(consumer="ledger", status="failed").error_type == "LedgerError"
    assert AuditEntry.objects.get(action="projection.dead_letter").actor == ACTOR


def test_after_three_hours_the_bug_is_mended_replayed_and_the_rest_settled(shop: Shop) -> None:
    look_around(after=timedelta(hours=4))
    assert Shop.objects.get().version == "1.7.3"
    [run] = Run.objects.filter(kind="replay")
    assert run.requested_by == ACTOR
    run_all(run)
    # With the payment that was parked behind it.
    assert totals(run) == {"succeeded": 2}
    assert OrderSummary.objects.get().state == "paid"
    assert DeadLetter.objects.get(error_type="ValueError").closed_by == ACTOR


def test_poison_that_no_replay_takes_is_settled_by_hand(shop: Shop) -> None:
    for _ in range(3):
        replay_as_visitor(canary=False)
    assert DeadLetter.objects.get(error_type="KeyError").tier == "poison"
    look_around(after=timedelta(hours=4))
    assert not Run.objects.filter(requested_by=ACTOR).exists()
    assert DeadLetter.objects.get(error_type="KeyError").closed_by == ACTOR
    assert not DeadLetter.objects.open().filter(consumer="order-summary").exists()


def test_a_run_that_a_visitor_left_paused_ends_and_its_letters_are_replayed(shop: Shop) -> None:
    run = replay_as_visitor()
    assert run.state == "paused"
    look_around(after=timedelta(hours=2))
    run.refresh_from_db()
    assert run.state == "paused"
    look_around(after=timedelta(hours=4))
    run.refresh_from_db()
    assert run.state == "cancelled"
    release_ended()
    look_around(after=timedelta(hours=4))
    run = Run.objects.get(kind="replay", requested_by=ACTOR)
    assert totals(run_all(run)) == {"succeeded": 2}


def test_what_a_visitor_holds_up_until_further_notice_goes_on(shop: Shop) -> None:
    stop_replays(actor="ines")
    trip_breaker("hooks.elm.example", actor="ines", reason="they asked for it")
    look_around(after=timedelta(hours=2))
    assert ReplaySwitch.objects.exists()
    look_around(after=timedelta(hours=4))
    assert not ReplaySwitch.objects.exists()
    assert Trip.objects.get().ended_by == ACTOR


def test_ten_times_as_fast_it_waits_a_tenth(shop: Shop) -> None:
    look_around(after=timedelta(minutes=7), speed=10)
    assert Projection.objects.get(name="ledger").state == "running"


def test_its_rounds_leave_few_entries_in_a_trail_that_forgets_nothing(shop: Shop) -> None:
    # All that they try is refused, and even that is on record.
    stop_replays(actor="tests")
    now = timezone.now()
    ReplaySwitch.objects.update(stopped_at=now + timedelta(hours=4))
    night_shift = NightShift(now - timedelta(days=1), speed=1)
    for second in range(0, 3600, 15):
        get_shop.forget()
        night_shift.look_around(now + timedelta(hours=4, seconds=second))
    failed = AuditEntry.objects.filter(actor=ACTOR, action="replay.start")
    assert failed.count() == 6
