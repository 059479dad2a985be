"""The page of a dry run: what failed although all is undone, and how it is done for real."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape, strip_tags

from dashboard.models import Run
from dashboard.runs.kinds import MORE, get_rest
from dashboard.runs.lanes import claim, release
from dashboard.runs.operations import cancel_run
from dashboard.runs.states import move, settle
from dlq.items import release_ended
from dlq.masking import HIDDEN
from dlq.models import FailureGroup
from dlq.replay.kind import Replay
from dlq.replay.options import ReplayOptions
from dlq.reprocess.choice import EventChoice
from dlq.retention import KEEP_ITEMS_DAYS
from projections.models.event import Event
from tests.dlq.replay.conftest import run_all, totals
from tests.dlq.replay.test_run_facts import DRY, read
from tests.markup import read_html
from tests.shop.models import Fault

Fail = Callable[..., None]
Start = Callable[..., Run]


def test_a_dry_run_says_what_failed_although_all_is_undone(
    operator: Client, fail: Fail, start: Start
) -> None:
    fail("a", "b", "c", events=1)
    Fault.objects.exclude(mark="a").update(how="KeyError")
    run = run_all(start(options=DRY))
    html = read(operator, run)
    text = strip_tags(html)
    headline = "finished; 1 failed with the same error, 2 failed with a new error, and all of it was undone"
    assert f"Try 3 letters of letters: {headline}" in text
    assert "everything is undone again" in text
    # The group that was there is linked; the one that was only made for the trial is gone, and its title stays.
    group = FailureGroup.objects.get()
    link = f'<a href="{reverse("dlq:group", args=[group.pk])}">{escape(group.title)}</a>'
    assert f'<span class="badge bad">same error</span> {link}' in html
    assert "2 new error KeyError: &lt;value&gt;, last" in text


def test_a_dry_run_that_is_cancelled_says_that_nothing_of_it_stays(
    operator: Client, fail: Fail, mend: Callable[..., None], start: Start
) -> None:
    fail("a", "b", events=1)
    mend()
    run = start(options=ReplayOptions(canary=False, dry_run=True, lanes=1, pace=4))
    hold = claim(run.pk, 0, 0, holder="test")
    assert hold is not None
    Replay().work(hold)
    html = operator.get(reverse("runs:confirm_cancel", args=[run.pk])).content.decode()
    assert "A cancelled run cannot be resumed. It is a dry run: what it tried is undone." in html
    assert "<dt>Tried, and undone</dt>" in html
    cancel_run(run, actor="olga", reason="")
    text = strip_tags(read(operator, run))
    assert "It ends after the slice in hand. It is a dry run: what it tried is undone." in text
    # What is left stays as it is, so there is no time that it takes.
    assert " left" not in text
    assert "for real" not in text
    release(hold, MORE)
    settle(run.pk)
    headline = "cancelled; 1 succeeded, 1 untouched, and all of it was undone"
    assert f"Try 2 letters of letters: {headline}" in strip_tags(read(operator, run))


def test_all_that_a_dry_run_tried_can_be_replayed_for_real(
    operator: Client, viewer: Client, fail: Fail, mend: Callable[..., None], start: Start
) -> None:
    fail("a", "b", events=2)
    fail("c", events=1)
    mend("a")
    run = run_all(start(options=DRY))
    assert totals(run) == {"succeeded": 2, "same_error": 2, "held": 1}
    mend()
    fail("d", events=1)
    html = read(operator, run)
    address = f"{reverse('dlq:confirm_replay')}?scope=matching&run={run.pk}"
    assert f'href="{escape(address)}">Replay them for real…</a>' in html
    assert "Replay what failed" not in html
    asked = read_html(operator.get(address))
    assert "Replay 5 letters of letters?" in asked
    assert "2</b> followers come along" in asked
    assert "for real" not in read(viewer, run)
    # Nor where nothing tells any more which letters they were.
    Run.objects.update(ended_at=timezone.now() - timedelta(days=KEEP_ITEMS_DAYS))
    assert "for real" not in read(operator, run)


def test_of_more_letters_than_can_be_chosen_a_dry_run_offers_what_failed(
    operator: Client, fail: Fail, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail("a", "b", events=1)
    run = run_all(start(options=DRY))
    monkeypatch.setattr("dlq.queries.replay_run.MOST_SEARCHED", 1)
    html = read(operator, run)
    assert "for real" not in html
    assert "Replay what failed or was held…" in html


def test_a_dry_run_that_breaks_says_that_nothing_of_it_stays(
    operator: Client, fail: Fail, mend: Callable[..., None], start: Start
) -> None:
    fail("a", "b", events=1)
    mend()
    for options, outcome in (
        (
            ReplayOptions(canary=False, dry_run=True, lanes=1, pace=4),
            "It was a dry run: what it tried is undone.",
        ),
        (ReplayOptions(canary=False, lanes=1, pace=4), get_rest("replay").sentence),
    ):
        run = start(options=options)
        hold = claim(run.pk, 0, 0, holder="test")
        assert hold is not None
        Replay().work(hold)
        move(run.pk, Run.State.FAILED, note="OperationalError: the disk is full")
        release(hold, MORE)
        release_ended()
        html = read(operator, run)
        assert '<p class="message bad">OperationalError: the disk is full</p>' in html
        assert f"The run itself broke. {outcome}</p>" in html
        undone = ", and all of it was undone" if options.dry_run else ""
        assert f"{run.title}: failed; 1 succeeded, 1 untouched{undone}</h1>" in html


def test_a_new_error_of_a_dry_run_is_hidden_where_it_was_noted_under_other_masking_rules(
    operator: Client, fail: Fail, start: Start, settings: Any
) -> None:
    fail("a", events=1)
    Fault.objects.update(how="KeyError")
    run = run_all(start(options=DRY))
    settings.MASKED_PATHS = ["$.mark"]
    text = strip_tags(read(operator, run))
    assert f"1 new error KeyError ({HIDDEN}), last" in text


def test_a_dry_run_of_events_says_what_failed(
    operator: Client, handled: None, reprocess: Callable[..., Run]
) -> None:
    Event.objects.filter(position=1).update(data={"amount": 2, "mark": "a"})
    Fault.objects.create(mark="a", how="KeyError")
    run = run_all(reprocess(options=DRY, acknowledged=False, reason=""))
    text = strip_tags(read(operator, run))
    assert "1 new error KeyError: &lt;value&gt;, last" in text
    # Its letters were undone too.
    assert "Replay what failed" not in text


def test_the_events_of_a_dry_run_can_be_chosen_once_more(
    operator: Client, viewer: Client, handled: None, reprocess: Callable[..., Run]
) -> None:
    since = datetime(2026, 1, 1, tzinfo=UTC)
    choice = EventChoice("letters", types=("Paid", "Refunded"), stream="a", since=since)
    run = run_all(reprocess(choice, options=DRY, acknowledged=False, reason=""))
    html = read(operator, run)
    [address] = re.findall(r'href="([^"]+)">Reprocess them for real…</a>', html)
    page = operator.get(unescape(address))
    assert page.status_code == 200
    assert f"Reprocess {totals(run)['succeeded']} events of letters?" in read_html(page)
    assert page.context["events"].choice == choice
    assert "for real" not in read(viewer, run)
