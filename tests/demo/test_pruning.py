"""The shop stays small: what is old and settled goes, and with too much that is not, it closes."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from demo import pruning
from demo.models import OrderSummary, Shop
from demo.simulator import Simulator
from demo.sink import Sink
from dlq.models import DeadLetter
from dlq.operations import handle_letters
from dlq.preview import preview
from dlq.selection import select_ids
from dlq.verbs import VERBS
from projections.accounting import check_all
from projections.definition import find_projector
from projections.models import Event, Projection, Skip
from projections.runtime.clock import SystemClock
from projections.runtime.hand import LIVE
from projections.runtime.turn import take_turn


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "KEEP_EVENTS", 5)
    monkeypatch.setattr(pruning, "MOST_EVENTS", 12)
    monkeypatch.setattr(pruning, "KEEP_CLOSED", 1)


@pytest.fixture
def sell(sink: Sink) -> Callable[..., None]:
    """Place orders whose whole life is over at once, and let the order summary consume them."""
    Projection.objects.exclude(name="order-summary").delete()
    simulator = Simulator(timezone.now())

    def sell(number: int, **wishes: object) -> None:
        shop = Shop.objects.get()
        for _ in range(number):
            simulator.place_order(shop, simulator.at - timedelta(hours=1), **wishes)
        simulator.advance(simulator.at)
        projector = find_projector("order-summary")
        assert projector
        while take_turn(projector, LIVE, SystemClock()) == 0:
            pass
        check_all()

    return sell


def test_what_is_settled_goes_with_its_read_model(small: None, sell: Callable[..., None]) -> None:
    sell(3)
    orders = OrderSummary.objects.count()
    pruning.prune()
    assert Event.objects.count() == 5
    assert OrderSummary.objects.count() < orders == 3
    check_all()
    assert Projection.objects.get().accounting["missing"] == 0


def test_what_is_open_stays_until_somebody_has_dealt_with_it(
    small: None, sell: Callable[..., None], operator: Client
) -> None:
    sell(1, is_malformed=True)
    sell(3)
    first = DeadLetter.objects.get(status="failed")
    pruning.prune()
    assert Event.objects.order_by("position")[0].position == first.position
    assert pruning.is_full()
    assert "It takes no orders" in operator.get("/demo/").content.decode()
    verb, selection = VERBS["resolve"], select_ids([first.pk])
    handle_letters(
        verb,
        selection,
        confirmed=preview(verb, selection).total(with_followers=True),
        actor="tests",
        request_key="0" * 32,
        with_followers=True,
    )
    # The account first, so that closed letters are settled.
    check_all()
    pruning.prune()
    assert Event.objects.count() == 5
    assert not pruning.is_full()
    check_all()
    assert Projection.objects.get().accounting["missing"] == 0


def test_what_was_skipped_is_forgotten_with_its_event(small: None, sink: Sink) -> None:
    Projection.objects.exclude(name="catalog-cache").delete()
    simulator, projector = Simulator(timezone.now()), find_projector("catalog-cache")
    assert projector
    for n in range(7):
        at = simulator.at - timedelta(minutes=7 - n)
        simulator.add(simulator.sales.price(at, patch=1, is_malformed=n in (0, 6)))
    simulator.advance(simulator.at)
    while take_turn(projector, LIVE, SystemClock()) == 0:
        pass
    assert Skip.objects.count() == 2
    pruning.prune()
    assert Skip.objects.get().position == Event.objects.latest("position").position
    check_all()
    account = Projection.objects.get().accounting
    assert (account["missing"], account["skipped"], account["processed"]) == (0, 2, 5)


@pytest.mark.django_db
def test_a_closed_shop_begins_nothing() -> None:
    now = timezone.now()
    Shop.objects.create(pk=1)
    simulator = Simulator(now)
    simulator.is_closed = True
    assert simulator.advance(now + timedelta(hours=1)) == 0
    simulator.is_closed = False
    assert simulator.advance(now + timedelta(hours=1, minutes=5)) > 0
