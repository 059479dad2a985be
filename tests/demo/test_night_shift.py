"""The night shift: deals with what has waited for hours, on record, and with nothing else."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.models import AuditEntry, Run
from demo.models import OrderSummary, Shop
from demo.night_shift import ACTOR, NightShift
from demo.pricing import get_shop
from demo.sink import Sink
from dlq.models import DeadLetter
from dlq.operations import stop_replays
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


def test_it_leaves_alone_what_has_not_waited(shop: Shop) -> None:
    look_around(after=timedelta(minutes=1))
    assert not AuditEntry.objects.exists()
    assert Projection.objects.get(name="ledger").state == "stopped"


def test_what_stood_still_with_the_shop_has_not_waited(shop: Shop) -> None:
    now = timezone.now()
    NightShift(now, speed=1).look_around(now + timedelta(minutes=59))
    assert not AuditEntry.objects.exists()


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


def test_ten_times_as_fast_it_waits_a_tenth(shop: Shop) -> None:
    look_around(after=timedelta(minutes=7), speed=10)
    assert Projection.objects.get(name="ledger").state == "running"


def test_its_rounds_leave_few_entries_in_a_trail_that_forgets_nothing(shop: Shop) -> None:
    # All that they try is refused, and even that is on record.
    stop_replays(actor="tests")
    now = timezone.now()
    night_shift = NightShift(now - timedelta(days=1), speed=1)
    for second in range(0, 3600, 15):
        get_shop.forget()
        night_shift.look_around(now + timedelta(hours=4, seconds=second))
    failed = AuditEntry.objects.filter(actor=ACTOR, action="replay.start")
    assert failed.count() == 6
