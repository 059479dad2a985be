"""The past: made by the runtime and the breakers under a moved clock, whole even if it is cut short."""

from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from breakers.copying import copy_transitions
from breakers.models import Breaker, State, Transition
from demo.models import OrderSummary, Shop
from demo.pricing import get_shop
from dlq.models import Attempt, DeadLetter
from projections.accounting import check_all
from projections.lag import get_lags, take_samples
from projections.models import Event, LagSample, Pace, Projection, Skip


def test_it_is_believable_and_everything_in_it_is_accounted_for(short_past: Callable[..., None]) -> None:
    before = timezone.now()
    # As beat does meanwhile.
    short_past(lambda: bool(take_samples()))
    began_at = before - timedelta(minutes=20)
    times = [*Event.objects.order_by("position").values_list("recorded_at", flat=True)]
    assert times == sorted(times)
    assert times[0] < began_at + timedelta(minutes=2)
    # A failure happened when its event did, not when the past was made.
    failed = DeadLetter.objects.filter(consumer="order-summary", error_type="KeyError")
    assert failed.exists()
    for letter in failed:
        event = Event.objects.get(position=letter.position)
        assert timedelta(0) < letter.first_failed_at - event.recorded_at < timedelta(minutes=1)
        assert letter.app_version == "1.7.2"
    assert DeadLetter.objects.filter(status="parked").exists()
    assert Attempt.objects.filter(at__gt=before).count() == 0
    assert Skip.objects.filter(at__lt=before).exists()
    assert Pace.objects.filter(starts_at__lt=before - timedelta(minutes=5)).exists()
    samples = LagSample.objects.order_by("at").values_list("projection", "position")
    assert samples.filter(at__lt=before - timedelta(minutes=5)).exists()
    for pk in Projection.objects.values_list("pk", flat=True):
        positions = [position for projection, position in samples if projection == pk]
        assert positions == sorted(positions)

    ledger = Projection.objects.get(name="ledger")
    assert ledger.state == "stopped"
    assert ledger.error_type == "LedgerError"
    assert ledger.state_since < before - timedelta(minutes=10)
    slow = Projection.objects.get(name="search-index")
    assert get_lags()[slow.pk].events > 0
    others = Projection.objects.filter(name__in=["order-summary", "webhooks", "notifications"])
    assert {row.state for row in others} == {"running"}

    copy_transitions()
    cedar = Breaker.objects.get(name="hooks.cedar.example")
    assert cedar.state == State.OPEN
    assert Transition.objects.get(breaker=cedar).at < before

    check_all()
    assert {row.accounting["missing"] for row in Projection.objects.all()} == {0}


def test_one_that_was_cut_short_is_gone_on_with(short_past: Callable[..., None]) -> None:
    answers = iter([False] * 4)
    short_past(lambda: next(answers, True))
    shop = Shop.objects.get()
    assert not shop.is_past_made
    assert shop.past_from
    assert shop.past_at
    assert shop.past_at > shop.past_from
    assert set(Projection.objects.filter(name="webhooks").values_list("state", flat=True)) == {"paused"}
    count = Event.objects.count()
    get_shop.forget()
    short_past()
    assert Shop.objects.get().is_past_made
    assert Event.objects.count() > count
    orders = Event.objects.filter(type="OrderPlaced").values_list("stream", flat=True)
    assert len(orders) == len(set(orders))
    assert OrderSummary.objects.count() > 0
    # There is one past.
    count = Event.objects.count()
    get_shop.forget()
    short_past()
    assert Event.objects.count() == count
