"""Replay from the event store: events that never failed too, by the same rules, marked as what they are."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import AuditEntry, Run
from dashboard.runs.operations import cancel_run, pause_run, resume_run
from dlq.models import Attempt, DeadLetter, LetterRunItem, Override
from dlq.operations import ConfirmAgain, ReplayRefused, select_failed, start_reprocess, stop_replays
from dlq.overrides import set_override
from dlq.queries.replay import preview_replay
from dlq.queries.reprocess import preview_reprocess
from dlq.replay.options import ReplayOptions
from dlq.reprocess.choice import EventChoice
from projections.accounting import check
from projections.api import PickError
from projections.models import Projection
from projections.models.event import Event
from projections.operations import ProjectionStateError, start_rebuild
from tests.dlq.replay.conftest import QUICK, notes, run_all, totals
from tests.dlq.replay.test_replay_command import replay
from tests.dlq.replay.test_replay_pages import read_form
from tests.shop.models import Applied, Balance, Fault

Pay = Callable[..., int]
Work = Callable[..., Projection]
Reprocess = Callable[..., Run]
ALL = EventChoice("letters")


@pytest.fixture
def reprocess(someone: User) -> Reprocess:
    """Start it, confirmed as it was previewed."""

    def reprocess(choice: EventChoice = ALL, options: ReplayOptions = QUICK, **more: Any) -> Run:
        found = preview_reprocess(choice)
        given = {"watermark": found.watermark, "confirmed": found.count, "actor": someone, "reason": "tests"}
        more = {"request_key": uuid4(), "acknowledged": True} | more
        return start_reprocess(choice, options=options, **given | more)

    return reprocess


@pytest.fixture
def handled(pay: Pay, work: Work) -> None:
    """Two streams of which every event was handled: a of Paid at 1, 3 and Refunded at 5, b of Paid at 2, 4."""
    for amount in (1, 2):
        pay("a", amount)
        pay("b", amount)
    pay("a", 3, event_type="Refunded")
    work("letters")
    Applied.objects.all().delete()


@pytest.mark.parametrize(
    ("choice", "positions"),
    [
        (ALL, [1, 2, 3, 4, 5]),
        (EventChoice("letters", stream="a"), [1, 3, 5]),
        (EventChoice("letters", types=("Paid",)), [1, 2, 3, 4]),
        (EventChoice("letters", stream="a", types=("Refunded",)), [5]),
        (EventChoice("letters", stream="nobody"), []),
    ],
)
def test_events_are_chosen_by_stream_and_type_and_handled_once_more(
    handled: None,
    reprocess: Reprocess,
    applied: Callable[[str], list[int]],
    choice: EventChoice,
    positions: list[int],
) -> None:
    assert preview_reprocess(choice).count == len(positions)
    run = run_all(reprocess(choice))
    assert run.state == "finished"
    assert totals(run) == ({"succeeded": len(positions)} if positions else {})
    assert sorted(applied("letters")) == positions
    assert [p for p in applied("letters") if p in (1, 3, 5)] == [p for p in positions if p in (1, 3, 5)]
    # Nothing failed, so there is no letter, and the account of the events is as it was.
    assert not DeadLetter.objects.exists()
    assert check(Projection.objects.get(name="letters")).missing == 0


def test_events_are_chosen_by_time(handled: None, reprocess: Reprocess) -> None:
    start = timezone.now() - timedelta(hours=5)
    for position in range(1, 6):
        Event.objects.filter(position=position).update(recorded_at=start + timedelta(hours=position))
    at = {n: start + timedelta(hours=n) for n in range(1, 6)}
    assert preview_reprocess(EventChoice("letters", since=at[2], until=at[4])).count == 3
    assert preview_reprocess(EventChoice("letters", since=at[5])).count == 1
    assert preview_reprocess(EventChoice("letters", until=at[1] - timedelta(seconds=1))).count == 0
    with pytest.raises(PickError, match="ends before it begins"):
        preview_reprocess(EventChoice("letters", since=at[2], until=at[1]))


def test_what_comes_after_the_preview_is_not_touched(
    handled: None, reprocess: Reprocess, pay: Pay, work: Work, applied: Callable[[str], list[int]]
) -> None:
    found = preview_reprocess(ALL)
    pay("a", 9)
    work("letters")
    Applied.objects.all().delete()
    run_all(reprocess(watermark=found.watermark, confirmed=found.count))
    assert sorted(applied("letters")) == [1, 2, 3, 4, 5]


def test_what_the_projection_has_not_come_to_is_not_meant(handled: None, pay: Pay) -> None:
    pay("a", 9)
    assert preview_reprocess(ALL).count == 5


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
    assert notes(run) == ["an event before it in its stream failed"]
    assert LetterRunItem.objects.get(run=run, outcome="new_error").letter_id == letter.pk
    html = operator.get(reverse("dlq:letter", args=[letter.pk])).content.decode()
    assert "reprocessed from the event store, <a" in html
    html = operator.get(reverse("runs:run", args=[run.pk])).content.decode()
    assert "From the event store" in html
    assert "Replay what failed" in html
    assert preview_replay(select_failed(run)).count == 1


def test_open_letters_and_what_stands_behind_them_are_left_out_and_held_if_they_open_later(
    handled: None, reprocess: Reprocess, pay: Pay, work: Work, mend: Callable[..., None]
) -> None:
    pay("b", 7, mark="b", how="ValueError")
    pay("b", 8)
    work("letters")
    found = preview_reprocess(ALL)
    assert (found.count, found.left_out) == (5, {"letter": 2})
    mend()
    DeadLetter.objects.update(status="resolved", closed_at=timezone.now())
    assert preview_reprocess(ALL).count == 7
    run = reprocess()
    DeadLetter.objects.filter(sequence_no=3).update(status="failed", closed_at=None)
    run_all(run)
    letter = DeadLetter.objects.get(status="failed")
    assert totals(run) == {"succeeded": 5, "held": 2}
    assert notes(run) == [
        f"its own letter {letter.pk} is open; replay that",
        f"letter {letter.pk} stands before it in its sequence",
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
    found = preview_reprocess(ALL)
    assert (found.count, found.left_out) == (4, {"given_up": 1})
    run = reprocess()
    set_override("letters", ids[1], Override.Kind.DISCARDED, **decided)
    run_all(run)
    assert totals(run) == {"succeeded": 3, "skipped": 1}
    assert Applied.objects.get(position=4).data == {"amount": 70}
    assert notes(run) == ["discarded by olga"]


def test_what_the_projection_skipped_or_waits_with_is_left_out(handled: None, pay: Pay, work: Work) -> None:
    pay("c", 1, mark="c", how="breaker")
    pay("c", 2)
    pay("d", 1, mark="d", how="ValueError")
    for name in ("letters", "cache"):
        work(name)
    assert preview_reprocess(ALL).left_out == {"waiting": 2, "letter": 1}
    assert preview_reprocess(EventChoice("cache")).left_out == {"waiting": 2, "skipped": 1}


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


def test_more_than_a_page_can_count_is_a_rebuild(handled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("projections.picking.MOST_PICKED", 2)
    for choice in (ALL, EventChoice("letters", stream="a")):
        with pytest.raises(PickError, match="narrow it, or rebuild"):
            preview_reprocess(choice)


def test_it_works_from_the_page(operator: Client, handled: None) -> None:
    url = reverse("dlq:events")
    row = Projection.objects.get(name="letters")
    link = f"{url}?consumer=letters"
    assert link in operator.get(reverse("projections:projection", args=[row.pk])).content.decode()
    html = operator.get(f"{link}&stream=a&type=Paid").content.decode()
    assert "Reprocess 2 events of letters" in html
    assert "repeats their effects" in html
    assert "manage.py replay --events letters --stream a --type Paid --canary --acknowledge" in html
    form = read_form(html) | {"start": "canary", "stop_after": "5", "lanes": "4", "reason": "mended"}
    post = reverse("dlq:reprocess")
    assert operator.post(post, form).status_code == 409
    places = {operator.post(post, form | {"acknowledged": "on"})["Location"] for _ in range(2)}
    run = Run.objects.get()
    assert places == {reverse("runs:run", args=[run.pk])}
    assert totals(run_all(run)) == {"succeeded": 2}
    entry = AuditEntry.objects.filter(action="event.reprocess", outcome="succeeded").earliest("pk")
    assert (entry.details["count"], entry.details["stream"], entry.reason) == (2, "a", "mended")


def test_a_viewer_may_not_and_nonsense_is_named(viewer: Client, operator: Client, handled: None) -> None:
    assert viewer.get(reverse("dlq:events")).status_code == 403
    for query, status in (("", 200), ("consumer=nobody", 400), ("consumer=letters&since=soon", 400)):
        assert operator.get(f"{reverse('dlq:events')}?{query}").status_code == status
    html = operator.get(f"{reverse('dlq:events')}?consumer=letters&type=Nothing")
    assert (html.status_code, "Nothing" in html.content.decode()) == (400, True)


def test_the_command_line_does_the_same(handled: None) -> None:
    said = replay("--events=letters", "--stream=a", "--yes", "--acknowledge", "--reason=mended")
    assert "Reprocess 3 events of letters: 1 streams" in said
    assert totals(run_all(Run.objects.get())) == {"succeeded": 3}
