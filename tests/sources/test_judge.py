"""What is said of somebody else's worker follows from evidence, and what proves nothing is not said."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from projections.foreign import record
from projections.foreign.judge import judge
from projections.foreign.needs import find_troubled
from projections.models import ForeignProjection, ForeignSample
from sources.checkpoints.contract import Bound, Evidence, ForeignCheckpoint

SEEN = Evidence(True, "1 session of w is connected.", "w")
GONE = Evidence(False, "No session of w is connected.", "w", is_steady=True)
NO_LOCK = Evidence(False, "Nobody holds its leader lock.")
UNSEEN = Evidence(None, "It cannot be seen.")
NOW = timezone.now()
LONG_AGO, JUST_NOW = NOW - timedelta(minutes=5), NOW - timedelta(seconds=5)


def say(worker: Evidence, moved_at: datetime | None, lag: int | None = 0, **more: Any) -> tuple[str, str]:
    waiting = {"waiting_since": LONG_AGO} if lag else {}
    found = ForeignCheckpoint(consumer="c", at="1", stamp="1", worker=worker, lag=lag, **waiting | more)
    verdict = judge(found, moved_at=moved_at, now=NOW)
    return verdict.state.value, verdict.evidence


def test_a_worker_that_is_seen_runs_unless_events_wait_and_nothing_moves() -> None:
    assert say(SEEN, LONG_AGO) == ("running", "1 session of w is connected. Nothing waits.")
    assert say(SEEN, JUST_NOW, lag=3)[0] == "running"
    # They have not waited long.
    assert say(SEEN, LONG_AGO, lag=3, waiting_since=JUST_NOW)[0] == "running"
    assert say(SEEN, LONG_AGO, lag=3) == (
        "stalled",
        "1 session of w is connected. But its checkpoint has not moved for 5 min: 3 events wait, the first for 5 min.",
    )


def test_one_that_would_be_seen_and_is_not_is_stopped() -> None:
    assert say(GONE, JUST_NOW)[0] == "stopped"
    assert say(GONE, JUST_NOW, lag=None) == (
        "stopped",
        "No session of w is connected. How many events wait is not known.",
    )


def test_a_lock_that_nobody_holds_proves_something_only_when_events_wait() -> None:
    assert say(NO_LOCK, LONG_AGO)[0] == "unknown"
    assert say(NO_LOCK, LONG_AGO, lag=1)[0] == "stopped"
    assert say(NO_LOCK, JUST_NOW, lag=1)[0] == "running"
    assert say(NO_LOCK, LONG_AGO, lag=1, waiting_since=JUST_NOW)[0] == "unknown"


def test_where_nothing_can_be_seen_only_movement_tells() -> None:
    assert say(UNSEEN, JUST_NOW, lag=3)[0] == "running"
    assert say(UNSEEN, LONG_AGO) == ("unknown", "Nothing waits. It cannot be seen.")
    assert say(UNSEEN, LONG_AGO, lag=3)[0] == "stalled"
    assert say(UNSEEN, None, lag=3)[1].startswith("Its checkpoint was never seen to move: 3 events wait")
    # They may all be of types that it does not handle.
    assert say(UNSEEN, LONG_AGO, lag=3, lag_bound=Bound.AT_MOST)[0] == "unknown"


@pytest.mark.django_db
def test_what_was_read_long_ago_is_not_told_as_if_it_were_now(viewer: Client) -> None:
    row = ForeignProjection.objects.create(
        source="orders",
        name="summary",
        lag=0,
        state="running",
        evidence="It ran.",
        read_at=timezone.now() - timedelta(minutes=5),
    )
    html = viewer.get(reverse("projections:foreign", args=[row.pk])).content.decode()
    assert "orders was last read 5 min ago, so that nothing is known of it now." in html
    assert "It ran." not in html
    html = viewer.get(reverse("projections:projections")).content.decode()
    assert "orders/summary may be behind" in html
    assert "up to date" not in html


@pytest.mark.django_db
def test_a_source_that_is_asked_seldom_is_known_in_between(viewer: Client, settings: Any) -> None:
    settings.SOURCES = {"orders": {"kind": "eventcore", "dsn": "postgresql://db/x", "every_seconds": 300}}
    long_ago = timezone.now() - timedelta(minutes=5)
    row = ForeignProjection.objects.create(
        source="orders",
        name="summary",
        lag=3,
        state="stalled",
        state_since=long_ago,
        evidence="It stands.",
        read_at=long_ago,
    )
    assert "It stands." in viewer.get(reverse("projections:foreign", args=[row.pk])).content.decode()
    assert [need.headline for need in find_troubled()] == ["orders/summary is stalled"]
    ForeignProjection.objects.update(read_at=timezone.now() - timedelta(minutes=16))
    assert (
        "nothing is known of it now"
        in viewer.get(reverse("projections:foreign", args=[row.pk])).content.decode()
    )
    assert not list(find_troubled())


@pytest.mark.django_db
def test_a_source_that_says_nothing_is_no_zero(viewer: Client) -> None:
    row = ForeignProjection.objects.create(
        source="core", name="balances", lag=None, lag_note="Name its types."
    )
    html = viewer.get(reverse("projections:foreign", args=[row.pk])).content.decode()
    assert html.count("unknown") >= 3
    assert "Name its types." in html


@pytest.mark.django_db
def test_samples_make_a_trend_and_are_forgotten(viewer: Client) -> None:
    row = ForeignProjection.objects.create(source="orders", name="summary", lag=4, head=9, position=5)
    unknown = ForeignProjection.objects.create(source="orders", name="other", lag=None)
    for minutes in (1, 2, 3 * 24 * 60):
        at = timezone.now() - timedelta(minutes=minutes)
        ForeignSample.objects.create(projection=row, at=at, head=9, position=1, lag=8)
    record.take_samples()
    assert not unknown.samples.exists()
    assert row.samples.count() == 4
    html = viewer.get(reverse("projections:projections")).content.decode()
    assert "Lag over the last hour, now 4" in html
    record.forget()
    assert row.samples.count() == 3
    ForeignProjection.objects.update(has_checkpoint=False, moved_at=NOW - timedelta(days=8))
    record.forget()
    assert not ForeignProjection.objects.exists()
