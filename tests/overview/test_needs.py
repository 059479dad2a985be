"""Whatever needs a person has a line on the overview, and its link leads to where something can be done."""

import time
from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from breakers.operations import trip_breaker
from breakers.tasks import tend
from dashboard.attention import list_attention
from dashboard.models import Heartbeat, Run
from projections.accounting import check_all
from projections.declared import sync_declared
from projections.models import ForeignProjection, Projection
from projections.store import NewEvent, append
from tests.breakers.conftest import open_breaker

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_alive")]


def stop_a_projection() -> None:
    sync_declared()
    Projection.objects.filter(name="journal").update(state="stopped", error_type="ValueError")


def lose_an_event() -> None:
    sync_declared()
    append("a", [NewEvent("Paid", {"amount": 1})])
    # Nobody handled it, and it is not on record anywhere.
    Projection.objects.filter(name="journal").update(position=1)
    check_all()


def fall_behind_elsewhere() -> None:
    now = timezone.now()
    given = {"state": "running", "lag": 2500, "read_at": now, "oldest_at": now - timedelta(minutes=2)}
    ForeignProjection.objects.create(source="orders", name="totals", **given)


def make_run(number: int = 1, **fields: object) -> None:
    for _ in range(number):
        Run.objects.create(
            kind="tally", title="Count marks", request_key=uuid4(), requested_by="ada", **fields
        )


def pause_a_run() -> None:
    make_run(state="paused")


def break_a_run() -> None:
    make_run(state="failed", failure="its target is gone", ended_at=timezone.now())


def break_many_runs() -> None:
    make_run(5, state="failed", failure="its target is gone", ended_at=timezone.now())


def pause_one_more_than_is_named() -> None:
    make_run(4, state="paused")


def open_a_breaker() -> None:
    open_breaker("orders-api", clock=lambda: time.time() - 11 * 60)
    tend()


def hold_a_breaker() -> None:
    trip_breaker("orders-api", actor="ada", reason="they migrate.")
    tend()


def lose_the_worker() -> None:
    Heartbeat.objects.filter(kind="worker").delete()


def lose_a_queue() -> None:
    Heartbeat.objects.filter(kind="worker").update(facts={"queues": ["runs", "rebuilds", "housekeeping"]})


def lose_beat() -> None:
    Heartbeat.objects.filter(kind="beat").delete()


@pytest.mark.parametrize(
    ("happen", "headline", "tone"),
    [
        (stop_a_projection, "journal has stopped on one event", "bad"),
        (lose_an_event, "journal is missing 1 event", "bad"),
        (fall_behind_elsewhere, "orders/totals is 2,500 events behind", "warn"),
        (pause_a_run, "Run {run} is paused", "warn"),
        (break_a_run, "Run {run} broke", "bad"),
        (break_many_runs, "2 more runs broke", "bad"),
        (pause_one_more_than_is_named, "1 more run is paused", "warn"),
        (open_a_breaker, "orders-api is open", "bad"),
        (hold_a_breaker, "orders-api is held open", "warn"),
        (lose_the_worker, "No worker runs", "bad"),
        (lose_a_queue, "No worker takes from queue “replays”", "bad"),
        (lose_beat, "Beat is silent", "bad"),
    ],
)
def test_it_is_named_and_its_link_leads_somewhere(
    viewer: Client, happen: Callable[[], object], headline: str, tone: str
) -> None:
    assert list_attention() == []
    happen()
    newest = Run.objects.order_by("pk").last()
    wanted = headline.format(run=newest.pk if newest else "")
    [need] = [need for need in list_attention() if need.headline == wanted]
    assert need.tone == tone
    assert viewer.get(need.url).status_code == 200
    page = viewer.get("/").content.decode()
    assert wanted in page
    assert need.link in page


def test_a_paused_run_says_why_by_whom_and_since_when() -> None:
    make_run(2, state="paused")
    [of_itself, by_somebody] = Run.objects.order_by("pk")
    long_ago = timezone.now() - timedelta(minutes=7)
    for run, actor, note in (
        (of_itself, "redrive", "1 failed; it was the first."),
        (by_somebody, "olga", ""),
    ):
        run.events.create(state="running", actor="redrive")
        run.events.create(state="pausing", actor=actor, note=note, at=long_ago)
        run.events.create(state="paused", actor="redrive")
    sentences = {need.headline: need.sentence for need in list_attention()}
    assert sentences == {
        f"Run {of_itself.pk} is paused": "Count marks. 1 failed; it was the first. Paused by redrive, 7 min ago.",
        f"Run {by_somebody.pk} is paused": (
            "Count marks. It keeps its place until somebody resumes or cancels it. Paused by olga, 7 min ago."
        ),
    }
