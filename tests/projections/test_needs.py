"""A projection that has fallen behind needs a person; one that is only catching its breath does not."""

from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from dashboard.models import Heartbeat
from dashboard.workers.heartbeats import beat
from projections.foreign.queries import find_troubled
from projections.models import Event, ForeignProjection, Projection
from projections.needs import MANY_EVENTS, find_lagging, find_lagging_foreign


def age(minutes: float) -> None:
    Event.objects.update(recorded_at=timezone.now() - timedelta(minutes=minutes))


def only(name: str) -> None:
    Projection.objects.exclude(name=name).delete()


def consume(*names: str) -> None:
    beat(Heartbeat.Kind.CONSUMER, "here", started_at=timezone.now(), projections=list(names))


def test_behind_for_long_needs_somebody(pay: Callable[..., int]) -> None:
    only("journal")
    pay("a", 1, 2)
    consume("journal")
    assert list(find_lagging()) == []
    age(6)
    [need] = find_lagging()
    assert need.headline == "journal is 2 events behind"
    assert need.sentence == "The oldest has waited for 6 min. It is at work."
    assert (need.tone, need.url) == ("warn", f"/projections/{Projection.objects.get().pk}/")


def test_many_events_behind_need_somebody_sooner(pay: Callable[..., int]) -> None:
    only("journal")
    pay("a", *range(MANY_EVENTS))
    age(0.5)
    assert list(find_lagging()) == []
    age(1.5)
    [need] = find_lagging()
    assert need.headline == "journal is 1,000 events behind"
    assert "No process consumes it" in need.sentence


def test_retries_that_its_policy_allows_are_no_alarm(pay: Callable[..., int]) -> None:
    only("journal")
    Projection.objects.update(grace_seconds=3600)
    pay("a", 1)
    age(30)
    assert list(find_lagging()) == []


def test_many_projections_behind_are_one_thing(pay: Callable[..., int]) -> None:
    pay("a", 1)
    age(10)
    [need] = find_lagging()
    assert need.headline.endswith("projections are behind")


def test_a_stopped_one_is_told_about_elsewhere(pay: Callable[..., int]) -> None:
    only("journal")
    pay("a", 1)
    age(10)
    Projection.objects.update(state="stopped")
    assert list(find_lagging()) == []


def test_of_several_that_have_stopped_the_one_that_is_furthest_behind_speaks(db: None) -> None:
    for lag in (1, 3, 2):
        ForeignProjection.objects.create(
            source="shop", name=f"p{lag}", state="stalled", lag=lag, evidence=f"{lag} wait."
        )
    [need] = find_troubled()
    assert (need.headline, need.sentence) == (
        "3 projections of shop are stalled",
        "p1, p2, p3. Of p3: 3 wait.",
    )


def test_a_lag_that_is_only_a_bound_says_so(db: None) -> None:
    now = timezone.now()
    ForeignProjection.objects.create(
        source="shop",
        name="totals",
        state="running",
        lag=1950,
        lag_bound=ForeignProjection.Bound.AT_LEAST,
        oldest_at=now - timedelta(hours=1),
        read_at=now,
    )
    [need] = find_lagging_foreign()
    assert need.headline == "shop/totals is at least 1,950 events behind"
