"""The page of a projection in the states that are rare: what it says then, and what can be done."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Heartbeat
from dashboard.runs.operations import cancel_run
from dlq.api import record_failure
from dlq.models import DeadLetter
from dlq.verbs import erase
from projections import accounting
from projections.models import Event, LagSample, Pace, Projection, Span
from projections.operations import (
    pause_projection,
    reset_checkpoint,
    resume_projection,
    start_rebuild,
)
from projections.rebuild import begin, pause_abandoned
from projections.runtime.consumer import note_outage
from tests.dlq.replay.conftest import run_all
from tests.markup import read_html
from tests.projections.test_pages import age, consumed
from tests.shop.models import Fault
from tests.shop.projections import Letters

__all__ = ["consumed"]

Pay = Callable[..., int]
Work = Callable[..., Projection]
ASKED: dict[str, Any] = {"actor": "ada", "reason": "drift"}


def show(client: Client, name: str) -> str:
    row = Projection.objects.get(name=name)
    return " ".join(read_html(client.get(reverse("projections:projection", args=[row.pk]))).split())


def test_a_ledger_that_has_stopped_offers_no_skip(operator: Client, pay: Pay, work: Work) -> None:
    pay("a", 1, mark="x", how="ValueError")
    work("journal")
    html = show(operator, "journal")
    assert "A ledger may not skip events." in html
    assert "Held up by <code>Paid</code> at 1 since " in html
    assert ", after 1 failed attempt</h2>" in html
    assert "<dt>Next attempt</dt><dd>when somebody decides</dd>" in html
    assert '<p class="d">grows until somebody decides</p>' in html
    assert "Skip…" not in html
    assert "Dead letter…" in html
    # An hour later.
    Pace.objects.all().delete()
    html = show(operator, "journal")
    assert "In the last hour no event was retried" in html
    assert "It has stood since <time" in html


def test_a_retry_says_when_the_next_attempt_is(
    operator: Client, pay: Pay, work: Work, consumed: None
) -> None:
    pay("a", 1, mark="x", how="TimeoutError")
    row = work("hybrid")
    html = show(operator, "hybrid")
    assert ", after 2 failed attempts</h2>" in html
    assert "<dt>Next attempt</dt><dd><time" in html
    assert "(up to 3 s of retries are no alarm)" in html
    # The chart begins at a time of day with its zone.
    assert " UTC</span><span>at most 2 a minute</span>" in html
    Heartbeat.objects.all().delete()
    assert "<dt>Next attempt</dt><dd>when a process consumes it</dd>" in show(operator, "hybrid")
    assert "Try it again now" in html
    pause_projection(row, actor="olga", reason="the index moves")
    html = show(operator, "hybrid")
    assert "<dt>Next attempt</dt><dd>when somebody resumes it</dd>" in html
    # One button resumes it.
    assert "Try it again now" not in html
    assert "Resume hybrid" in html


def test_an_outage_has_no_tries_and_may_have_no_trace(viewer: Client, pay: Pay, consumed: None) -> None:
    pay("a", 1)
    note_outage(Letters(), ConnectionError("the price list is away"))
    html = show(viewer, "letters")
    assert "by infrastructure, and trying again: ConnectionError: the price list is away" in html
    assert "Held up by infrastructure since <time" in html
    assert "; next in line is <code>Paid</code> at 1</h2>" in html
    assert "no attempt in five minutes" in html
    assert "That infrastructure holds it up is no failure of an event, and is not counted here." in html
    assert "Stack trace" not in html


def test_one_whose_event_somebody_took_out_of_the_store_can_be_resumed(
    operator: Client, pay: Pay, work: Work
) -> None:
    pay("a", 1, mark="x", how="ValueError")
    work("prices")
    Event.objects.all().delete()
    html = show(operator, "prices")
    assert "Held up by" not in html
    assert "The store has this event no longer." in html
    assert '<button class="btn primary">Resume</button>' in html


def test_what_was_reset_is_accounted_for_from_there(viewer: Client, pay: Pay, work: Work) -> None:
    pay("a", 1, 2, 3)
    row = work("letters")
    run_all(reset_checkpoint(row, 2, **ASKED, request_key=uuid4()))
    work("letters")
    html = show(viewer, "letters")
    assert "Since position 2, where the checkpoint was set." in html
    assert "<b>1</b> = 1 processed" in html


def test_an_account_that_is_not_of_this_moment_says_of_which(
    viewer: Client, pay: Pay, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounting, "MOST_ON_PAGE", 0)
    pay("a", 1, mark="x", how="ValueError")
    accounting.check(work("letters"))
    pay("b", 2)
    work("letters")
    html = show(viewer, "letters")
    assert "<b>1</b> = 0 processed" in html
    assert "As it was <time" in html
    assert "just now</time>, up to position 1: so many events have to be explained" in html
    monkeypatch.setattr(accounting, "MOST_ON_PAGE", 1)
    html = show(viewer, "letters")
    assert "<b>2</b> = 1 processed" in html
    assert "As it was" not in html


def test_missing_events_of_one_that_cannot_be_rebuilt(admin: Client, pay: Pay, work: Work) -> None:
    pay("a", 1, 2, event_type="Noted")
    work("notes")
    Span.objects.all().delete()
    Event.objects.filter(position=2).delete()
    html = show(admin, "notes")
    assert "2 missing" in html
    assert "Reset the checkpoint to before the first of them: what follows it is handled again too." in html
    assert "at <code>2</code>: the store has no event here any more" in html
    assert "No reset and no rebuild brings back what the store no longer has" in html
    Event.objects.all().delete()
    html = show(admin, "notes")
    assert "what follows it is handled again too." not in html
    assert "No reset and no rebuild brings back what the store no longer has" in html
    assert "No rebuild: its code has no truncate()." in html
    # A reset to where it stood is refused if it has gone on since.
    assert "Pause it for that: one that goes on is elsewhere by then." in html
    Projection.objects.filter(name="notes").update(state="paused")
    assert "Pause it for that" not in show(admin, "notes")


def test_of_many_missing_events_the_first_are_named(viewer: Client, pay: Pay, work: Work) -> None:
    pay("a", *range(21))
    work("letters")
    Span.objects.all().delete()
    assert "The first 20 of 21." in show(viewer, "letters")


def test_one_missing_event_is_not_the_first_of_many(viewer: Client, pay: Pay, work: Work) -> None:
    pay("a", 1)
    work("letters")
    Span.objects.all().delete()
    html = show(viewer, "letters")
    assert "This event is neither done nor on record anywhere." in html
    assert "Rebuild, or reset the checkpoint to before it: what follows" in html
    assert "at <code>1</code>: <code>Paid</code> of stream <code>a</code>, event <span" in html
    assert "no longer has" not in html
    # Also before beat has taken the account.
    assert '<p class="sub">1 event is neither done nor on record anywhere.</p>' in html
    assert "It has handled every event" not in html


def test_effects_outside_are_said(viewer: Client) -> None:
    assert "Also outside: one event a commit, at least once" in show(viewer, "mailer")


def test_one_that_catches_up_says_when_it_is_done(
    viewer: Client, pay: Pay, work: Work, consumed: None
) -> None:
    row = work("letters")
    at = timezone.now() - timedelta(seconds=100)
    LagSample.objects.create(projection=row, at=at, head=0, position=0, lag=500)
    pay("a", *range(300))
    age(seconds=30)
    assert '<p class="d">done in 2 min</p>' in show(viewer, "letters")
    html = read_html(viewer.get(reverse("projections:projections")))
    assert '<span class="nowrap">2 min</span>' in html


def test_a_delay_that_nobody_can_tell_is_not_none(viewer: Client, pay: Pay, consumed: None) -> None:
    Projection.objects.exclude(name="letters").delete()
    pay("a", 1)
    Event.objects.all().delete()
    assert '<p class="n">unknown</p>' in show(viewer, "letters")
    html = read_html(viewer.get(reverse("projections:projections")))
    assert '<span class="nowrap">unknown</span>' in html


def test_one_that_no_app_declares_any_more_offers_nothing_that_needs_its_code(
    admin: Client, pay: Pay, consumed: None
) -> None:
    Projection.objects.create(name="gone", event_types=["Paid"])
    pay("a", 1)
    html = show(admin, "gone")
    assert "No installed app has a handler for what waits" in html
    for verb in ("Reset…", "Rebuild…", "Reprocess events…", "has no truncate()"):
        assert verb not in html


def test_while_it_is_rebuilt_nothing_else_is_offered(admin: Client, pay: Pay, work: Work) -> None:
    pay("a", 1)
    row = work("letters")
    run = start_rebuild(row, **ASKED, request_key=uuid4())
    begin(Letters(), run.lanes.get())
    html = show(admin, "letters")
    address = reverse("runs:run", args=[run.pk])
    assert (
        f'Being rebuilt by <a href="{address}">run {run.pk}</a>, which is pending. It is at 0 of 1.</p>'
        in html
    )
    assert html.count(f"un {run.pk}<") == 1
    for verb in ("Reset…", "Rebuild…", "Reprocess events…", "Pause…"):
        assert verb not in html
    link = f'<a href="{reverse("projections:projection", args=[row.pk])}">See letters</a>'
    assert link in read_html(admin.get(reverse("runs:run", args=[run.pk])))


def test_a_rebuild_that_was_cancelled_is_why_it_is_paused(viewer: Client, pay: Pay, work: Work) -> None:
    """And not a pause of long ago."""
    pay("a", 1)
    row = work("letters")
    pause_projection(row, actor="olga", reason="the index moves")
    resume_projection(row, actor="olga")
    run = start_rebuild(row, **ASKED, request_key=uuid4())
    begin(Letters(), run.lanes.get())
    cancel_run(run, actor="ada", reason="")
    for _ in range(2):
        pause_abandoned()
    html = show(viewer, "letters")
    assert "Paused by redrive" in html
    assert f"Its rebuild, run {run.pk}, was cancelled. The read model is empty; resuming begins" in html
    assert html.count(">projection.pause<") == 2


def test_a_pause_that_is_on_no_record_says_so(viewer: Client) -> None:
    Projection.objects.filter(name="letters").update(state="paused")
    assert "Who paused it is not in the audit trail." in show(viewer, "letters")


def test_a_letter_of_an_unnamed_type_leaves_no_stray_comma(viewer: Client) -> None:
    given = {"event_id": "e1", "error_type": "KeyError", "payload": {}}
    record_failure(source="native", consumer="letters", **given)
    assert '>KeyError</a> <span class="dim">failed ' in show(viewer, "letters")


def test_recent_letters_are_those_that_failed(viewer: Client, pay: Pay, work: Work) -> None:
    """One that was only parked, and closed by a rebuild, has never failed."""
    pay("a", 1, mark="x", how="KeyError")
    pay("a", 2)
    row = work("letters")
    html = show(viewer, "letters")
    assert "KeyError: &#x27;currency&#x27;</a>" in html
    said = (
        "It has come past every event of its types; 1 dead letter and 1 parked event are not handled yet.</p>"
    )
    assert said in html
    Fault.objects.all().delete()
    run_all(start_rebuild(row, **ASKED, request_key=uuid4()))
    assert set(DeadLetter.objects.values_list("status", flat=True)) == {"resolved"}
    html = show(viewer, "letters")
    assert html.count(", now resolved</span>") == 1
    erase([DeadLetter.objects.get(position=1).pk], "ada", "asked for")
    assert ">KeyError</a>" in show(viewer, "letters")
