"""Runs on their pages: how fast they are, what they are about to do, and lists of them by state."""

from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Lane, Run
from dashboard.runs import queries
from dashboard.runs.kinds import get_rest
from dashboard.runs.lanes import Hold, claim
from dashboard.runs.operations import cancel_run, pause_run, resume_run
from dashboard.runs.states import begin, settle
from tests.markup import read_html
from tests.tally.operations import start_tally

pytestmark = pytest.mark.django_db
Read = Callable[[Run], str]


@pytest.fixture
def read(operator: Client) -> Read:
    return lambda run: read_html(operator.get(reverse("runs:run", args=[run.pk])))


def hold(run: Run) -> Hold:
    """As a worker has it in hand."""
    found = claim(run.pk, 0, 0, holder="somebody")
    assert found
    begin(run)
    return found


def test_a_rate_and_what_is_left_are_told_while_somebody_works(read: Read) -> None:
    run = start_tally(1000)
    hold(run)
    lane = Lane.objects.filter(run=run)
    # The lease of tests is short, and a busy machine slow.
    lane.update(totals={"marked": 400}, rate=10, leased_until=timezone.now() + timedelta(hours=1))
    done = "<strong>400</strong> of 1,000 done (40 %)</span>"
    html = read(run)
    assert f"{done}<span>10 a second</span><span>about 1 min left</span></p>" in html
    assert "<h1>Count marks: running; 400 marked, 600 still to do</h1>" in html
    # Slower than anybody counts in seconds.
    lane.update(rate=0.1)
    assert f"{done}<span>about 1 h 40 min left</span></p>" in read(run)
    lane.update(totals={"marked": 1000}, rate=10)
    assert "of 1,000 done (100 %)</span><span>10 a second</span></p>" in read(run)
    lane.update(leased_until=None)
    assert "of 1,000 done (100 %)</span></p>" in read(run)


def test_a_run_pauses_and_ends_after_the_slice_in_hand(read: Read) -> None:
    run = start_tally(10)
    hold(run)
    # The lease of tests is short, and a busy machine slow.
    Lane.objects.filter(run=run).update(leased_until=timezone.now() + timedelta(hours=1))
    pause_run(run, actor="olga")
    html = read(run)
    assert "<h1>Count marks: pausing; 10 still to do</h1>" in html
    assert "<span>It pauses after the slice in hand. It keeps its place until somebody resumes" in html
    assert "Pause asked for by olga" in html
    assert "Paused by" not in html
    cancel_run(run, actor="olga", reason="")
    html = read(run)
    assert "<h1>Count marks: cancelling; 10 untouched</h1>" in html
    assert "It ends after the slice in hand. What is done stays done." in html
    assert "still to do" not in html
    assert "Cancel…" not in html


def test_a_cancelled_run_says_what_was_left(read: Read) -> None:
    run = start_tally(10)
    with hold(run).recording() as lane:
        lane.count("marked", 4)
    cancel_run(run, actor="olga", reason="")
    Lane.objects.update(leased_until=None)
    settle(run.pk)
    html = read(run)
    assert "<h1>Count marks: cancelled; 4 marked, 6 untouched</h1>" in html
    assert "marked <b>4</b>" in html
    assert "untouched <b>6</b>" in html
    assert f'<p class="dim">{get_rest("tally").sentence}</p>' in html


def test_a_headline_says_how_a_run_stands_before_and_after_its_work(operator: Client, read: Read) -> None:
    run = start_tally(2)
    assert "<h1>Count marks: pending; 2 still to do</h1>" in read(run)
    pause_run(run, actor="olga")
    assert "<h1>Count marks: paused; 2 still to do</h1>" in read(run)
    Lane.objects.update(totals={"marked": 1})
    Run.objects.update(state="failed", failure="It broke.", ended_at=timezone.now())
    assert "<h1>Count marks: failed; 1 marked, 1 untouched</h1>" in read(run)
    Lane.objects.update(totals={"marked": 1, "odd": 1})
    Run.objects.update(state="finished")
    assert "<h1>Count marks: finished; 1 marked, 1 odd ones</h1>" in read(run)
    Lane.objects.update(total=0, totals={})
    html = read(run)
    assert "<h1>Count marks: finished</h1>" in html
    assert "There was nothing to do." in html
    assert 'class="meter"' not in html
    listed = read_html(operator.get(reverse("runs:runs")))
    assert "<span>nothing to do</span>" in listed
    assert "0 of 0" not in html + listed


def test_what_did_not_go_well_is_dealt_with_and_has_one_colour(read: Read) -> None:
    run = start_tally(2)
    Run.objects.update(state="running")
    begin(run)
    Lane.objects.update(totals={"odd": 2}, is_done=True)
    settle(run.pk)
    html = read(run)
    assert "<strong>2</strong> of 2 dealt with (100 %)" in html
    assert 'aria-label="100 % dealt with"' in html
    # Above, and in what happened.
    assert html.count('<span class="badge warn">Finished</span>') == 2
    Lane.objects.update(totals={"marked": 1, "odd": 1})
    assert "<strong>2</strong> of 2 dealt with (100 %)" in read(run)
    Lane.objects.update(totals={"marked": 2})
    assert "<strong>2</strong> of 2 done (100 %)" in read(run)


def test_what_was_sent_is_told_before_a_replay_is_cancelled_and_after(operator: Client, read: Read) -> None:
    run = Run.objects.create(kind="replay", title="Replay 5 letters", request_key=uuid4())
    Lane.objects.create(run=run, number=0, total=5, totals={"succeeded": 2, "sent": 1})
    html = read_html(operator.get(reverse("runs:confirm_cancel", args=[run.pk])))
    assert "<dt>Done, and staying done</dt><dd>2 of 5</dd>" in html
    assert "<dt>Sent, and nobody knows yet what came of it</dt><dd>1</dd>" in html
    assert "<dt>Untouched</dt><dd>2</dd>" in html
    assert "What was sent stays sent: asked for again, it may be done twice." in html
    Lane.objects.update(totals={"same_error": 2})
    html = read_html(operator.get(reverse("runs:confirm_cancel", args=[run.pk])))
    assert "stays sent" not in html
    assert "<dt>Dealt with</dt><dd>2 of 5</dd>" in html
    Lane.objects.update(totals={"succeeded": 2, "sent": 3})
    Run.objects.filter(pk=run.pk).update(state="cancelled", ended_at=timezone.now())
    assert "and can be asked for again. What was sent stays sent: asked for again, it may be" in read(run)
    Lane.objects.update(totals={"succeeded": 5})
    assert "asked for again" not in read(run)


def test_what_a_rebuild_leaves_undone_is_missing(operator: Client, read: Read) -> None:
    run = Run.objects.create(
        kind="rebuild", title="Rebuild totals", options={"projection": "totals"}, request_key=uuid4()
    )
    lane = Lane.objects.create(run=run, number=0, total=5)
    Run.objects.filter(pk=run.pk).update(state="running", started_at=timezone.now())
    Lane.objects.filter(pk=lane.pk).update(totals={"processed": 2})
    html = read_html(operator.get(reverse("runs:confirm_cancel", args=[run.pk])))
    assert "<dt>Missing from the read model</dt><dd>3</dd>" in html
    # What follows for the projection is said before it is asked for.
    follows = get_rest("rebuild").sentence
    assert follows in html
    Run.objects.filter(pk=run.pk).update(state="failed", failure="It broke.", ended_at=timezone.now())
    html = read(run)
    assert "<h1>Rebuild totals: failed; 2 processed, 3 missing from the read model</h1>" in html
    assert "missing from the read model <b>3</b>" in html
    assert follows in html


def test_a_rebuild_that_never_began_leaves_the_read_model_as_it_was(operator: Client, read: Read) -> None:
    run = Run.objects.create(
        kind="rebuild", title="Rebuild totals", options={"projection": "totals"}, request_key=uuid4()
    )
    lane = Lane.objects.create(run=run, number=0, total=3)
    url = reverse("runs:confirm_cancel", args=[run.pk])
    html = read_html(operator.get(url))
    assert "<dt>Untouched</dt><dd>3</dd>" in html
    assert get_rest("rebuild").sentence not in html
    # Its first slice may empty the read model at any moment.
    Run.objects.update(state="running", started_at=timezone.now())
    assert "<dt>Missing from the read model</dt><dd>3</dd>" in read_html(operator.get(url))
    Run.objects.update(state="failed", failure="It could not be emptied.", ended_at=timezone.now())
    assert "<h1>Rebuild totals: failed; 3 untouched</h1>" in read(run)
    # It was emptied, and nothing was handled after that.
    Lane.objects.filter(pk=lane.pk).update(cursor={"until": 3})
    assert "<h1>Rebuild totals: failed; 3 missing from the read model</h1>" in read(run)


def test_a_count_of_runs_ends_somewhere_and_says_so(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MOST_COUNTED", 1)
    for _ in range(2):
        start_tally(1)
    assert "Over 1 runs have not ended" in read_html(operator.get(reverse("runs:runs")))


EMPTY = {
    "active": "No run is under way",
    "paused": "No run is paused",
    "finished": "No run has finished",
    "cancelled": "No run has been cancelled",
    "failed": "No run has failed",
}


@pytest.mark.parametrize("state", EMPTY)
def test_a_list_by_state_is_named_and_says_when_it_is_empty(operator: Client, state: str) -> None:
    html = read_html(operator.get(f"{reverse('runs:runs')}?state={state}"))
    assert f"<strong>{EMPTY[state]}</strong>" in html
    assert f'?state={state}" aria-current="page">' in html
    assert f'<a href="{reverse("runs:runs")}">Show all runs</a>' in html


def test_a_live_list_whose_runs_have_moved_on_leads_to_those_that_came_since(operator: Client) -> None:
    shown = start_tally(1)
    pause_run(shown, actor="olga")
    paused = f"{reverse('runs:runs')}?state=paused"
    live = operator.get(paused).context["live_url"]
    resume_run(shown, actor="olga")
    assert "No run is paused" in read_html(operator.get(live))
    pause_run(start_tally(1), actor="olga")
    html = read_html(operator.get(live))
    assert "No run is paused" not in html
    assert 'No run is on this page</strong><p><a href="?state=paused">Go to the first page</a>' in html


def test_the_headline_counts_the_paused_among_those_that_have_not_ended(operator: Client) -> None:
    for run in [start_tally(1), start_tally(1)]:
        pause_run(run, actor="olga")
    html = read_html(operator.get(reverse("runs:runs")))
    assert "<h1>2 runs are paused</h1>" in html
    start_tally(1)
    html = read_html(operator.get(f"{reverse('runs:runs')}?state=paused"))
    assert "<h1>3 runs have not ended; 2 of them are paused</h1>" in html
    assert html.count('<span class="badge warn">Paused</span>') == 2
