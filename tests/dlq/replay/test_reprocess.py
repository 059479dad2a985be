"""Replay from the event store: events that never failed too, by the same rules, marked as what they are."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Run
from dashboard.runs.operations import cancel_run, pause_run, resume_run
from dlq.management.sentences import describe_events
from dlq.models import Attempt, DeadLetter, LetterRunItem, Override
from dlq.operations import ConfirmAgain, ReplayRefused, select_failed, stop_replays
from dlq.overrides import set_override
from dlq.queries.replay import preview_replay
from dlq.queries.reprocess import preview_reprocess
from dlq.replay.options import ReplayOptions
from dlq.reprocess.choice import EventChoice
from projections.accounting import check_all
from projections.models import Projection
from projections.models.event import Event
from projections.operations import ProjectionStateError, start_rebuild
from projections.pruning import prune_events
from tests.dlq.replay.conftest import ALL_EVENTS, notes, run_all, totals
from tests.shop.models import Applied, Balance, Fault

Pay = Callable[..., int]
Work = Callable[..., Projection]
Reprocess = Callable[..., Run]


def test_an_event_that_fails_is_a_letter_and_the_rest_of_its_stream_is_held(
    handled: None, reprocess: Reprocess, operator: Client, applied: Callable[[str], list[int]]
) -> None:
    Event.objects.filter(position=3).update(data={"amount": 2, "mark": "a"}, metadata={"trace_id": "t-1"})
    Fault.objects.create(mark="a", how="KeyError")
    run = run_all(reprocess())
    assert totals(run) == {"succeeded": 3, "new_error": 1, "held": 1}
    assert sorted(applied("letters")) == [1, 2, 4]
    letter = DeadLetter.objects.get()
    assert (letter.position, letter.status, letter.error_type, letter.trace_id) == (
        3,
        "failed",
        "KeyError",
        "t-1",
    )
    assert notes(run) == ["behind a failed event of the same stream"]
    assert LetterRunItem.objects.get(run=run, outcome="new_error").letter_id == letter.pk
    html = operator.get(reverse("dlq:letter", args=[letter.pk])).content.decode()
    assert "reprocessed from the event store, <a" in html
    html = operator.get(reverse("runs:run", args=[run.pk])).content.decode()
    assert "<dt>From the store</dt>" in html
    assert "Replay what failed" in html
    assert preview_replay(select_failed(run)).count == 1


def test_open_letters_and_what_stands_behind_them_are_left_out_and_held_if_they_open_later(
    handled: None, reprocess: Reprocess, pay: Pay, work: Work, mend: Callable[..., None]
) -> None:
    pay("b", 7, mark="b", how="ValueError")
    pay("b", 8)
    work("letters")
    found = preview_reprocess(ALL_EVENTS)
    assert (found.count, found.left_out) == (5, {"letter": 2})
    mend()
    DeadLetter.objects.update(status="resolved", closed_at=timezone.now())
    assert preview_reprocess(ALL_EVENTS).count == 7
    run = reprocess()
    DeadLetter.objects.filter(sequence_no=3).update(status="failed", closed_at=None)
    run_all(run)
    letter = DeadLetter.objects.get(status="failed")
    assert totals(run) == {"succeeded": 5, "held": 2}
    assert notes(run) == [
        f"open as a letter already, which can be replayed (letter {letter.pk})",
        f"behind an earlier letter of the same sequence (letter {letter.pk})",
    ]


def test_a_success_is_an_attempt_of_a_letter_that_was_closed(
    handled: None, reprocess: Reprocess, pay: Pay, work: Work, mend: Callable[..., None]
) -> None:
    pay("b", 7, mark="b", how="ValueError")
    work("letters")
    mend()
    DeadLetter.objects.update(status="resolved", closed_at=timezone.now())
    run = run_all(reprocess())
    assert totals(run) == {"succeeded": 6}
    assert Attempt.objects.get(run=run).outcome == "succeeded"
    assert DeadLetter.objects.get().status == "resolved"


def test_decisions_about_events_are_honoured(
    handled: None, reprocess: Reprocess, applied: Callable[[str], list[int]]
) -> None:
    ids = {
        position: str(event_id) for position, event_id in Event.objects.values_list("position", "event_id")
    }
    decided: dict[str, Any] = {"source": "native", "actor": "olga", "reason": "no"}
    set_override("letters", ids[2], Override.Kind.SKIPPED, **decided)
    set_override("letters", ids[4], Override.Kind.REPLACED, **decided, payload={"amount": 70})
    found = preview_reprocess(ALL_EVENTS)
    assert (found.count, found.left_out) == (4, {"given_up": 1})
    run = reprocess()
    set_override("letters", ids[1], Override.Kind.DISCARDED, **decided)
    run_all(run)
    assert totals(run) == {"succeeded": 3, "skipped": 1}
    assert Applied.objects.get(position=4).data == {"amount": 70}
    assert notes(run) == ["discarded by olga"]


def test_events_that_were_pruned_meanwhile_are_skipped(
    handled: None, work: Work, reprocess: Reprocess
) -> None:
    run = reprocess()
    for name in Projection.objects.order_by("name").values_list("name", flat=True):
        work(name)
    check_all()
    assert prune_events(keep=3) == 2
    run_all(run)
    assert (run.state, totals(run)) == ("finished", {"succeeded": 3, "skipped": 2})
    assert notes(run) == ["not in the event store"] * 2


def test_effects_are_repeated_and_that_must_be_acknowledged_with_a_reason(
    pay: Pay, work: Work, reprocess: Reprocess
) -> None:
    pay("a", 5)
    pay("a", 6)
    work("quick-balances")
    choice = EventChoice("quick-balances")
    with pytest.raises(ReplayRefused, match="effects are repeated"):
        reprocess(choice, acknowledged=False)
    with pytest.raises(ReplayRefused, match="Say why"):
        reprocess(choice, reason=" ")
    assert totals(run_all(reprocess(choice))) == {"succeeded": 2}
    assert Balance.objects.get().amount == 22


def test_it_is_refused_where_a_replay_would_be(handled: None, reprocess: Reprocess) -> None:
    with pytest.raises(ConfirmAgain, match="4 events were confirmed, and now there are 5"):
        reprocess(confirmed=4)
    with pytest.raises(ReplayRefused, match="No event matches"):
        reprocess(EventChoice("letters", stream="nobody"))
    row = Projection.objects.filter(name="letters")
    row.update(state="rebuilding")
    with pytest.raises(ReplayRefused, match="being rebuilt"):
        reprocess()
    row.update(state="running")
    run = reprocess()
    with pytest.raises(ReplayRefused, match=f"Run {run.pk} .* is at events of letters"):
        reprocess()
    with pytest.raises(ProjectionStateError, match=f"[Rr]un {run.pk}"):
        start_rebuild(row.get(), actor="olga", reason="", request_key=uuid4())
    cancel_run(run, actor="olga", reason="no")
    stop_replays(actor="olga", reason="payments are down")
    with pytest.raises(ReplayRefused, match="payments are down"):
        reprocess()
    assert not Applied.objects.exists()


def test_pause_resume_the_ladder_and_a_double_click_are_those_of_a_replay(
    handled: None, reprocess: Reprocess
) -> None:
    key = uuid4()
    run = reprocess(options=ReplayOptions(canary=True), request_key=key)
    assert reprocess(request_key=key) == run
    assert sorted(LetterRunItem.objects.filter(run=run).values_list("rung", flat=True)) == [1, 2, 4, 4, 4]
    pause_run(run, actor="olga")
    assert totals(run_all(run)) == {}
    resume_run(run, actor="olga")
    assert totals(run_all(run)) == {"succeeded": 5}


def test_a_dry_run_changes_nothing(handled: None, reprocess: Reprocess) -> None:
    Event.objects.filter(position=1).update(data={"amount": 2, "mark": "a"})
    Fault.objects.create(mark="a", how="KeyError")
    run = run_all(reprocess(options=ReplayOptions(canary=False, dry_run=True), acknowledged=False, reason=""))
    assert totals(run) == {"succeeded": 2, "new_error": 1, "held": 2}
    assert not Applied.objects.exists()
    assert not DeadLetter.objects.exists()


@pytest.mark.parametrize("how", ["", "KeyError"])
def test_a_dry_run_tries_no_event_behind_others_that_it_has_undone(
    pay: Pay, work: Work, reprocess: Reprocess, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr("dlq.targets.handler.BATCH_SIZE", 2)
    pay("a", 1, 2, 3, 4, 5)
    pay("b", 6, 7)
    work("letters")
    if how:
        Event.objects.filter(position=1).update(data={"amount": 1, "mark": "a"})
        Fault.objects.create(mark="a", how=how)
    told = "Of each stream a dry run tries only the first 2; what comes after those is held, 3 events in all."
    assert told in list(describe_events(preview_reprocess(ALL_EVENTS)))
    dry = ReplayOptions(canary=False, dry_run=True, lanes=1, stop_after=None)
    run = run_all(reprocess(options=dry, acknowledged=False, reason=""))
    # What cannot be known is not guessed: behind one that failed they would be held, and not have succeeded.
    assert totals(run) == (
        {"succeeded": 2, "new_error": 1, "held": 4} if how else {"succeeded": 4, "held": 3}
    )
    assert notes(run)[-3:] == ["earlier ones of the same sequence were tried and undone already"] * 3


def test_handlers_with_effects_outside_get_one_event_a_commit(
    pay: Pay, work: Work, reprocess: Reprocess
) -> None:
    pay("a", 1, 2, 3)
    work("mailer")
    choice = EventChoice("mailer")
    assert preview_reprocess(choice).is_at_least_once
    with pytest.raises(ReplayRefused, match="effects outside this database"):
        reprocess(choice, options=ReplayOptions(dry_run=True))
    assert totals(run_all(reprocess(choice))) == {"succeeded": 3}
