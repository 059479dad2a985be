"""A projection that has fallen behind needs a person; one that is only catching its breath does not."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.models import Heartbeat
from dashboard.workers.heartbeats import beat
from projections.foreign.needs import find_troubled as find_troubled_elsewhere
from projections.foreign.queries import explain_worst
from projections.lag import MANY_EVENTS
from projections.models import Event, ForeignProjection, Projection
from projections.needs import find_late, find_troubled
from projections.queries import list_rows
from projections.runtime.consumer import note_outage
from tests.shop.projections import Journal


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
    assert list(find_late()) == []
    age(6)
    [need] = find_late()
    assert need.headline == "journal is 2 events behind"
    assert need.sentence == "The oldest has waited for 6 min. It is at work."
    assert (need.tone, need.url) == ("warn", f"/projections/{Projection.objects.get().pk}/")


def test_many_events_behind_need_somebody_sooner(pay: Callable[..., int]) -> None:
    only("journal")
    pay("a", *range(MANY_EVENTS))
    consume("journal")
    age(0.5)
    assert list(find_late()) == []
    age(1.5)
    [need] = find_late()
    assert need.headline == "journal is 1,000 events behind"
    # Its page shows it in the same colour.
    [row] = list_rows()
    assert (row.reason.tone, row.reason.needs_you) == (need.tone, True)


def test_retries_that_its_policy_allows_are_no_alarm(pay: Callable[..., int]) -> None:
    only("journal")
    Projection.objects.update(grace_seconds=3600)
    consume("journal")
    pay("a", 1)
    age(30)
    assert list(find_late()) == []


def test_many_projections_behind_are_one_thing(pay: Callable[..., int]) -> None:
    consume(*Projection.objects.values_list("name", flat=True))
    pay("a", 1)
    age(10)
    [need] = find_late()
    assert need.headline == "9 projections are behind"
    assert need.sentence == "balances, cache, hybrid and 6 more have fallen behind."


def test_that_nobody_consumes_is_said_at_once_and_by_one_need_for_all(pay: Callable[..., int]) -> None:
    pay("a", 1)
    assert list(find_late()) == []
    age(0.5)
    [need] = find_late()
    assert (need.headline, need.tone) == ("Nobody consumes 9 projections", "bad")
    assert need.sentence == (
        "balances, cache, hybrid and 6 more. The oldest event has waited for 30 s. "
        "No process handles what waits: start python3 manage.py consume."
    )
    consume("journal")
    [need] = find_late()
    assert need.headline == "Nobody consumes 8 projections"
    only("cache")
    [need] = find_late()
    assert (need.headline, need.url) == (
        "Nobody consumes cache",
        f"/projections/{Projection.objects.get().pk}/",
    )


def test_those_that_no_app_declares_are_told_of_by_themselves(pay: Callable[..., int]) -> None:
    Projection.objects.exclude(name="cache").delete()
    for name in ("gone", "lost"):
        Projection.objects.create(name=name, event_types=["Paid"])
    pay("a", 1)
    age(0.5)
    cache, others = find_late()
    assert cache.headline == "Nobody consumes cache"
    assert others.headline == "Nobody consumes 2 projections"
    assert others.sentence.startswith("gone and lost. The oldest event has waited for 30 s. No installed app")


def test_of_an_event_that_the_store_has_no_longer_no_age_is_told(pay: Callable[..., int]) -> None:
    only("cache")
    pay("a", 1)
    Event.objects.all().delete()
    [need] = find_late()
    assert need.sentence == "No process handles what waits: start python3 manage.py consume."


def test_an_outage_that_lasts_is_red_wherever_it_is_told(pay: Callable[..., int]) -> None:
    only("journal")
    consume("journal")
    pay("a", 1)
    note_outage(Journal(), ConnectionError("the price list is away"))
    for minutes, tone in ((1, "warn"), (6, "bad")):
        age(minutes)
        needs, [row] = list(find_late()), list_rows()
        assert (row.reason.word, row.reason.tone) == ("Blocked", tone)
        assert [need.tone for need in needs] == ["bad"] * row.reason.needs_you


@pytest.mark.parametrize(
    ("state", "missing", "minutes", "consumed"),
    [
        (state, missing, minutes, consumed)
        for state in Projection.State.values
        for missing in (0, 2)
        for minutes in (0, 1, 6)
        for consumed in (False, True)
    ],
)
def test_a_page_counts_among_those_that_need_you_whoever_is_listed_and_nobody_else(
    viewer: Client, pay: Callable[..., int], state: str, missing: int, minutes: int, consumed: bool
) -> None:
    only("journal")
    account = {"missing": missing, "named": [{"position": 1}, {"position": 2}]}
    Projection.objects.update(state=state, accounting=account if missing else {})
    pay("a", 1)
    age(minutes)
    if consumed:
        consume("journal")
    needs = [*find_troubled(), *find_late()]
    assert all("journal" in need.headline for need in needs)
    [row] = list_rows()
    assert row.reason.needs_you == bool(needs)
    if row.reason.needs_you:
        assert row.reason.tone in ("bad", "warn")
    else:
        assert row.reason.tone != "bad"
    assert ("the only projection needs you" in viewer.get("/").content.decode()) == bool(needs)


def test_one_that_is_too_far_behind_and_misses_events_is_explained_twice(pay: Callable[..., int]) -> None:
    only("journal")
    account = {"missing": 1, "named": [{"position": 1}]}
    Projection.objects.update(state="paused", accounting=account)
    pay("a", 1)
    age(6)
    missing, late = [*find_troubled(), *find_late()]
    assert (missing.headline, missing.tone) == ("journal is missing 1 event", "bad")
    assert (late.headline, late.tone) == ("journal is 1 event behind", "warn")
    assert late.sentence == (
        "The oldest has waited for 6 min. Paused; it keeps its place until somebody resumes it."
    )


def test_of_many_missing_events_the_first_are_named_and_the_others_counted(db: None) -> None:
    only("journal")
    for missing, said in ((1, "position 1,001"), (12, "positions 1,001, 1,002, 1,003 and 9 more")):
        named = [{"position": 1001 + number} for number in range(missing)]
        Projection.objects.update(accounting={"missing": missing, "named": named})
        [need] = find_troubled()
        assert need.sentence == f"Neither done nor on record: {said}."


def test_a_stopped_one_is_told_about_elsewhere(pay: Callable[..., int]) -> None:
    only("journal")
    pay("a", 1)
    age(10)
    Projection.objects.update(state="stopped")
    assert list(find_late()) == []


def test_of_several_that_have_stopped_the_one_that_is_furthest_behind_speaks(db: None) -> None:
    for lag in (1, 3, 2):
        ForeignProjection.objects.create(
            source="shop", name=f"p{lag}", state="stalled", lag=lag, evidence=f"{lag} wait."
        )
    [need] = find_troubled_elsewhere()
    assert (need.headline, need.sentence) == (
        "3 projections of shop are stalled",
        "p1, p2 and p3. Of p3: 3 wait.",
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
    [need] = find_troubled_elsewhere()
    assert need.headline == "shop/totals is at least 1,950 events behind"


LONG_AGO = timedelta(minutes=10)


@pytest.mark.parametrize("state", ForeignProjection.State.values)
@pytest.mark.parametrize(("lag", "bound"), [(None, ""), (0, ""), (3, ""), (3, "at_most"), (2500, "at_least")])
@pytest.mark.parametrize("happened", ["nothing", "undone", "lost", "stale"])
def test_the_same_holds_for_those_of_other_systems(
    db: None, state: str, lag: int | None, bound: str, happened: str
) -> None:
    now = timezone.now()
    given = {
        "nothing": {},
        "undone": {"reset": {"verdict": "undone", "sentence": "It seems undone."}},
        "lost": {"unaccounted": {"number": 2, "sentence": "2 left no letter.", "newest_at": now.isoformat()}},
        "stale": {"read_at": now - LONG_AGO},
    }
    row = ForeignProjection.objects.create(
        **{"source": "shop", "name": "totals", "state": state, "lag": lag, "lag_bound": bound},
        **{"state_since": now - LONG_AGO, "oldest_at": now - LONG_AGO if lag else None},
        **{"read_at": now} | given[happened],
    )
    worst, needs = explain_worst(row), list(find_troubled_elsewhere())
    assert worst.needs_you == bool(needs)
    assert (worst.tone == "bad") <= worst.needs_you
    assert not needs or worst.tone in ("bad", "warn")
