"""The pages say what matters, in every state a projection can be in."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Heartbeat
from dlq.api import close_rebuilt
from dlq.models import DeadLetter
from projections import accounting, lag
from projections.charts import describe_gap
from projections.models import Event, LagSample, Projection, WaitingEvent
from projections.operations import reset_checkpoint
from projections.queries import list_rows
from tests.dlq.replay.conftest import run_all
from tests.markup import read_html

Pay = Callable[..., int]
Work = Callable[..., Projection]


@pytest.fixture
def consumed() -> None:
    """As if a process consumed everything."""
    names = list(Projection.objects.values_list("name", flat=True))
    now = timezone.now()
    Heartbeat.objects.create(
        kind="consumer", name="here", seen_at=now, started_at=now, facts={"projections": names}
    )


def show(client: Client, row: Projection) -> str:
    return read_html(client.get(reverse("projections:projection", args=[row.pk])))


def age(seconds: float) -> None:
    Event.objects.update(recorded_at=timezone.now() - timedelta(seconds=seconds))


def word(name: str) -> str:
    return next(row.reason.word for row in list_rows() if row.projection.name == name)


def sentence(name: str) -> str:
    return next(row.reason.sentence for row in list_rows() if row.projection.name == name)


def test_why_it_is_where_it_is(pay: Pay, work: Work, clock: object, consumed: None) -> None:
    pay("a", 1, mark="x", how="ValueError")
    assert word("letters") == "Up to date"
    age(seconds=30)
    assert word("letters") == "Behind"
    work("journal")
    assert word("journal") == "Stopped"
    said = "Stopped just now on the event at 1: ValueError: amount 17 is not possible."
    assert sentence("journal") == said
    work("hybrid")
    assert word("hybrid") == "Retrying"
    assert "2 failed attempts" in sentence("hybrid")
    work("letters")
    assert word("letters") == "Up to date"
    Projection.objects.filter(name="cache").update(state="paused")
    assert word("cache") == "Paused"
    Heartbeat.objects.all().delete()
    assert word("mailer") == "Nobody consumes"


def test_slower_than_arrival_is_said_with_the_difference(pay: Pay, work: Work, consumed: None) -> None:
    row = work("letters")
    now = timezone.now()
    LagSample.objects.create(projection=row, at=now - timedelta(seconds=100), head=0, position=0, lag=0)
    pay("a", *range(200))
    age(seconds=30)
    assert word("letters") == "Falling behind"
    assert "Slower than arrival by 2.0 a second" in sentence("letters")


def test_after_a_burst_it_catches_up_and_says_when_it_is_done(pay: Pay, work: Work, consumed: None) -> None:
    row = work("letters")
    now = timezone.now()
    for seconds_ago, lag_then in ((290, 0), (240, 1000), (100, 500)):
        at = now - timedelta(seconds=seconds_ago)
        LagSample.objects.create(projection=row, at=at, head=0, position=0, lag=lag_then)
    pay("a", *range(300))
    age(seconds=30)
    # More have come than were handled in five minutes, and yet the lag shrinks by two a second.
    assert sentence("letters") == "Catching up; about 2 min left at this pace."
    LagSample.objects.filter(lag=500).update(lag=300)
    assert sentence("letters") == "At work: as many come as it handles."


def test_an_open_breaker_is_named(pay: Pay, work: Work, consumed: None) -> None:
    pay("a", 1, mark="x", how="breaker")
    work("letters")
    assert sentence("letters") == "1 event waits for breaker prices; the other streams go on."


def test_of_several_breakers_that_events_wait_for_one_is_named(pay: Pay, work: Work, consumed: None) -> None:
    pay("a", 1, mark="x", how="breaker")
    pay("a", 2)
    pay("b", 3, mark="x")
    work("letters")
    assert sentence("letters") == "3 events wait for breaker prices; the other streams go on."
    WaitingEvent.objects.filter(stream="b").update(breaker="carrier")
    assert sentence("letters") == "3 events wait for breaker prices and 1 other; the other streams go on."


def test_events_that_wait_for_a_breaker_have_a_delay(
    viewer: Client, pay: Pay, work: Work, consumed: None
) -> None:
    Projection.objects.exclude(name="letters").delete()
    pay("a", 1, mark="x", how="breaker")
    row = work("letters")
    age(seconds=200)
    html = show(viewer, row)
    waits = '1 waits for <a href="/breakers/breaker/?name=prices">a breaker</a>'
    assert f'<p class="n">3 min</p><p class="d">{waits}</p>' in html
    html = read_html(viewer.get(reverse("projections:projections")))
    assert "letters is behind" in html
    assert '<span class="nowrap">3 min</span>' in html
    html = read_html(viewer.get(reverse("overview")))
    assert "the only projection is behind" in html
    assert "letters: 1 waits for a breaker, 3 min" in html


def test_a_moment_is_not_behind(viewer: Client, pay: Pay, consumed: None) -> None:
    Projection.objects.exclude(name="letters").delete()
    pay("a", 1)
    assert sentence("letters") == "It has come past every event of its types but those of this moment."
    html = show(viewer, Projection.objects.get())
    assert '<p class="d">only of this moment</p>' in html
    assert '<p class="n">– / 0.0</p><p class="d">what comes in is unknown</p>' in html
    assert b"All projections are up to date" in viewer.get(reverse("projections:projections")).content
    assert b"every projection is up to date" in viewer.get(reverse("overview")).content
    age(seconds=2 * lag.MOMENT_SECONDS)
    assert word("letters") == "Behind"
    assert b"letters is behind" in viewer.get(reverse("projections:projections")).content


@pytest.mark.parametrize(
    ("gaps", "said"),
    [
        ([4, 4, 4], "stayed at 4 positions."),
        ([0, 900, 0], "is 0 positions, as it was at first; it was up to 900 between."),
        ([9, 2, 9], "is 9 positions, as it was at first."),
        ([0, 5, 70], "grew from 0 to 70 positions."),
        ([70, 90, 5], "shrank from 70 to 5 positions; it was up to 90 between."),
    ],
)
def test_the_chart_says_what_a_person_sees_in_it(gaps: list[int], said: str) -> None:
    assert describe_gap(gaps) == f"The gap between head and position {said}"


@pytest.mark.parametrize("wanted", ["abc", "-1", "1.5", "9" * 30, "²"])
def test_skips_of_something_that_is_no_projection(viewer: Client, wanted: str) -> None:
    response = viewer.get(reverse("projections:skips"), {"projection": wanted})
    assert response.status_code == 400
    assert "a projection&#x27;s number" in read_html(response)


def test_lag_is_in_events_of_its_types_and_costs_three_statements(pay: Pay, work: Work) -> None:
    pay("a", 1, 2)
    pay("a", 3, event_type="Noted")
    work("letters")
    pay("a", 4)
    pay("a", 5, 6, event_type="Noted")
    with CaptureQueriesContext(connection) as queries:
        measures = lag.get_measures()
    assert len(queries) == 3
    found = {row.name: measures[row.pk].lag.events for row in Projection.objects.all()}
    assert (found["letters"], found["notes"], found["journal"]) == (1, 3, 3)
    lag.recount_idle()
    again = lag.get_measures()
    assert {row.name: again[row.pk].lag.events for row in Projection.objects.all()} == found


def test_after_a_reset_no_event_beyond_the_checkpoint_is_called_its_last(
    viewer: Client, pay: Pay, work: Work
) -> None:
    pay("a", 1, 2)
    row = work("letters")
    assert '<dt>Last event</dt><dd class="mono">Paid</dd>' in show(viewer, row)
    run_all(reset_checkpoint(row, 1, actor="ada", reason="drift", request_key=uuid4()))
    html = show(viewer, row)
    assert "<dt>Position</dt><dd>1 of 2</dd>" in html
    assert '<dt>Last event</dt><dd class="mono">–</dd>' in html


def test_error_percentages_are_of_all_tries(pay: Pay, work: Work) -> None:
    pay("a", 1, 2, 3)
    pay("b", 4, mark="x", how="KeyError")
    row = work("letters")
    rates = lag.get_measures()[row.pk].rates
    assert (rates.processed_count, rates.failed_count, rates.error_percent) == (3, 1, 25.0)


def test_the_page_shows_the_blocking_event_and_the_account(viewer: Client, pay: Pay, work: Work) -> None:
    pay("a", 1)
    pay("b", 2, mark="x", how="ValueError")
    html = show(viewer, work("journal"))
    assert "Stopped just now on the event at 2" in html
    assert "amount 17 is not possible" in html
    assert "A ledger may not skip events." not in html
    assert "<b>1</b> = 1 processed" in " ".join(html.split())
    assert "https://runbooks.example.com/journal" in html


def test_a_missing_event_is_an_alarm_with_its_name(viewer: Client, pay: Pay, work: Work) -> None:
    pay("a", 1, mark="x", how="KeyError")
    row = work("letters")
    DeadLetter.objects.all().delete()
    assert "1 missing" in show(viewer, row)
    accounting.check_all()
    html = read_html(viewer.get(reverse("overview")))
    assert "letters is missing 1 event" in html


@pytest.mark.parametrize("name", ["projections:projections", "projections:skips", "projections:requests"])
def test_the_lists_work_when_empty_and_when_not(viewer: Client, pay: Pay, work: Work, name: str) -> None:
    assert viewer.get(reverse(name)).status_code == 200
    pay("a", 1, mark="x", how="ValueError")
    work("cache")
    lag.take_samples()
    assert viewer.get(reverse(name)).status_code == 200
    assert viewer.get(reverse(name), headers={"HX-Request": "true"}).status_code == 200


def test_the_account_and_the_recent_letters_say_that_closed_ones_are_among_them_and_lead_to_them(
    pay: Pay, work: Work, viewer: Client
) -> None:
    pay("a", 1, mark="x", how="ValueError")
    pay("b", 2, mark="x", how="ValueError")
    row = work("letters")
    assert "+ 2 dead letters (open or closed)" in show(viewer, row)
    closed = DeadLetter.objects.get(position=1)
    close_rebuilt("letters", [closed.event_id], source="native", closed_by="olga")
    html = show(viewer, row)
    assert "+ 2 dead letters (open or closed)" in html
    found = re.search(r'href="([^"]+)">All letters, closed ones too</a>', html)
    assert found
    listed = viewer.get(unescape(found[1])).content.decode()
    for letter in DeadLetter.objects.all():
        assert reverse("dlq:letter", args=[letter.pk]) in listed
