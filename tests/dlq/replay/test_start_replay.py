"""Replay through the handler: exactly what was confirmed, in order, with every letter accounted for."""

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone

from dashboard.models import AuditEntry, Run
from dlq.models import Attempt, DeadLetter, LetterBody, LetterRunItem
from dlq.operations import ConfirmAgain, ReplayRefused
from dlq.queries.replay import preview_replay
from dlq.queries.replay_run import describe_run
from dlq.replay.options import ReplayOptions
from dlq.selection import Selection, select_ids
from projections.accounting import check
from projections.models import Projection
from projections.operations import ProjectionStateError, start_rebuild
from tests.dlq.counting import assert_counters_are_right
from tests.dlq.replay.conftest import notes, run_all, statuses, totals
from tests.processes import running_worker
from tests.shop.models import Fault
from tests.wait import until

Start = Callable[..., Run]
Everything = Callable[..., Selection]


def test_a_replay_handles_heads_and_followers_in_order_in_a_real_worker(
    fail: Callable[..., None],
    mend: Callable[..., None],
    start: Start,
    applied: Callable[[str], list[int]],
    tmp_path: Path,
) -> None:
    fail("a", "b")
    assert applied("letters") == []
    mend()
    run = start()
    with running_worker(tmp_path / "worker.log"):
        until(lambda: Run.objects.filter(pk=run.pk, state="finished").exists())
    assert totals(run) == {"succeeded": 6}
    done = applied("letters")
    assert sorted(done) == [1, 2, 3, 4, 5, 6]
    assert [p for p in done if p <= 3] == [1, 2, 3]
    assert [p for p in done if p > 3] == [4, 5, 6]
    assert set(statuses().values()) == {"resolved"}
    letter = DeadLetter.objects.get(position=1)
    assert (letter.resolution, letter.replays, letter.closed_by) == ("replayed", 1, "someone")
    assert Attempt.objects.filter(outcome="succeeded", run=run).count() == 6
    assert not LetterRunItem.objects.filter(is_active=True).exists()
    account = check(Projection.objects.get(name="letters"))
    assert (account.missing, account.dead_lettered) == (0, 6)
    assert_counters_are_right()


def test_a_letter_that_fails_again_holds_its_followers_and_no_others(
    fail: Callable[..., None], mend: Callable[..., None], start: Start, applied: Callable[[str], list[int]]
) -> None:
    fail("a", "b")
    mend("b")
    run = run_all(start())
    assert totals(run) == {"succeeded": 3, "same_error": 1, "held": 2}
    assert applied("letters") == [4, 5, 6]
    assert statuses()[("a", 1)] == "failed"
    assert statuses()[("a", 2)] == "parked"
    head = DeadLetter.objects.get(sequence_key="a", sequence_no=1)
    assert (head.attempts, head.replays) == (2, 1)
    assert notes(run) == [f"behind an earlier letter of the same sequence (letter {head.pk})"] * 2
    assert Attempt.objects.get(outcome="failed", run=run).letter_id == head.pk


def test_another_error_is_a_new_error_with_its_group_and_a_follower_keeps_what_it_failed_with(
    fail: Callable[..., None], pay: Callable[..., int], mend: Callable[..., None], start: Start
) -> None:
    fail("a", events=1)
    pay("a", 7, mark="later", how="KeyError")
    fail(events=0)
    mend("a")
    run = run_all(start())
    assert totals(run) == {"succeeded": 1, "new_error": 1}
    item = LetterRunItem.objects.get(run=run, outcome="new_error")
    assert item.group_id == DeadLetter.objects.get(position=2).group_id
    assert LetterBody.objects.get(letter=item.letter_id).payload == {"amount": 7, "mark": "later"}


def test_the_third_failed_replay_makes_it_poison_which_takes_force_and_a_reason(
    fail: Callable[..., None], start: Start, everything: Everything
) -> None:
    fail("a")
    for _ in range(3):
        run_all(start())
    letter = DeadLetter.objects.get(sequence_no=1)
    assert (letter.tier, letter.replays) == ("poison", 3)
    found = preview_replay(everything())
    assert (found.count, found.left_out) == (0, {"poison": 1})
    with pytest.raises(ReplayRefused, match="None of the selected letters can be replayed"):
        start()
    assert Run.objects.count() == 3
    forced = ReplayOptions(canary=False, force=True)
    with pytest.raises(ReplayRefused):
        start(options=forced, reason=" ")
    assert totals(run_all(start(options=forced, reason="mended"))) == {"same_error": 1, "held": 2}


def test_what_arrives_after_the_preview_is_not_touched_but_what_is_parked_behind_joins(
    fail: Callable[..., None],
    pay: Callable[..., int],
    work: Callable[..., Projection],
    mend: Callable[..., None],
    start: Start,
    everything: Everything,
    applied: Callable[[str], list[int]],
) -> None:
    fail("a")
    selection = everything()
    confirmed = preview_replay(selection).count
    fail("b")
    run = start(selection, confirmed=confirmed)
    assert describe_run(run)["joined"] == 0
    pay("a", 9)
    work("letters")
    mend()
    run_all(run)
    # One more than was confirmed, and its page says so.
    assert (totals(run), run.options["confirmed"]) == ({"succeeded": 4}, 3)
    assert describe_run(run)["joined"] == 1
    assert applied("letters") == [1, 2, 3, 7]
    assert {status for (key, _), status in statuses().items() if key == "b"} == {"failed", "parked"}


def test_another_number_than_confirmed_asks_again_and_changes_nothing(
    fail: Callable[..., None], start: Start
) -> None:
    fail("a")
    with pytest.raises(ConfirmAgain):
        start(confirmed=2)
    assert not LetterRunItem.objects.exists()
    assert AuditEntry.objects.get(action="replay.start").outcome == "failed"


def test_a_double_click_is_one_run_and_a_letter_is_in_one_run(
    fail: Callable[..., None], start: Start, everything: Everything
) -> None:
    fail("a")
    key = uuid4()
    selection = everything()
    first = start(selection, request_key=key)
    assert start(selection, request_key=key, confirmed=3) == first
    found = preview_replay(everything())
    assert (found.count, found.in_run_count, found.run_ids) == (0, 1, [first.pk])
    assert AuditEntry.objects.filter(action="replay.start", outcome="succeeded").count() == 2


def test_an_earlier_open_letter_that_is_not_selected_holds_or_is_included(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail("a")
    mend()
    middle = select_ids([DeadLetter.objects.get(sequence_no=2).pk])
    assert preview_replay(middle).earlier_count == 1
    assert totals(run_all(start(middle))) == {"held": 2}
    run = run_all(start(middle, with_earlier=True))
    assert totals(run) == {"succeeded": 3}


@pytest.mark.parametrize("why", [{"tier": "poison"}, {"offers_replay": False}, {"erased_at": timezone.now()}])
def test_an_earlier_letter_that_would_stay_if_it_were_selected_is_told_and_not_included(
    fail: Callable[..., None], mend: Callable[..., None], start: Start, why: dict[str, object]
) -> None:
    fail("a")
    mend()
    DeadLetter.objects.filter(sequence_no=1).update(**why)
    middle = select_ids([DeadLetter.objects.get(sequence_no=2).pk])
    found = preview_replay(middle, with_earlier=True)
    assert (found.count, found.in_front_count, found.earlier_count, found.left_out) == (2, 1, 0, {})
    assert totals(run_all(start(middle, with_earlier=True))) == {"held": 2}
    forced = preview_replay(middle, with_earlier=True, force=True)
    assert (forced.count, forced.in_front_count) == ((2, 1) if "erased_at" in why else (3, 0))


def test_what_was_closed_meanwhile_is_skipped(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail("a", "b", events=1)
    run = start()
    mend()
    DeadLetter.objects.filter(sequence_key="a").update(status="discarded")
    assert totals(run_all(run)) == {"succeeded": 1, "skipped": 1}
    assert notes(run) == ["discarded meanwhile"]


def test_later_events_that_were_handled_already_must_be_acknowledged(
    fail: Callable[..., None], mend: Callable[..., None], start: Start, everything: Everything
) -> None:
    fail("a")
    mend()
    head = DeadLetter.objects.filter(sequence_no=1)
    head.update(status="resolved")
    run_all(start(everything(status="parked")))
    head.update(status="failed")
    assert preview_replay(everything()).later_count == 2
    with pytest.raises(ReplayRefused, match="must be acknowledged"):
        start()
    assert totals(run_all(start(acknowledged=True))) == {"succeeded": 1}


def test_every_sequence_is_looked_at_for_later_events_and_other_types_are_none(
    fail: Callable[..., None],
    pay: Callable[..., int],
    work: Callable[..., Projection],
    everything: Everything,
) -> None:
    fail(*(f"s{n}" for n in range(30)), events=2)
    pay("s7", 1, event_type="Unknown")
    work("letters")
    assert preview_replay(everything()).later_count == 0
    DeadLetter.objects.filter(sequence_key="s29", sequence_no=2).update(status="resolved")
    assert preview_replay(everything()).later_count == 1


def test_a_replay_during_a_rebuild_is_refused_and_one_that_has_begun_waits(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail("a")
    mend()
    run = start()
    row = Projection.objects.filter(name="letters")
    row.update(state="rebuilding")
    with pytest.raises(ReplayRefused, match="being rebuilt"):
        start(confirmed=0)
    run_all(run, rounds=2)
    assert totals(run) == {}
    row.update(state="running")
    assert totals(run_all(run)) == {"succeeded": 3}


def test_handlers_with_effects_outside_get_one_event_a_commit(
    fail: Callable[..., None], mend: Callable[..., None], start: Start, everything: Everything
) -> None:
    fail("a", consumer="mailer")
    mend()
    assert preview_replay(everything()).is_at_least_once
    assert totals(run_all(start())) == {"succeeded": 3}


def test_a_batch_handler_gets_them_together_and_the_culprit_alone_fails(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail("a", "b", "c", consumer="quick-balances")
    mend("a", "c")
    assert totals(run_all(start())) == {"succeeded": 6, "same_error": 1, "held": 2}


def test_a_refused_call_of_a_breaker_costs_no_attempt(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail("a", events=1)
    Fault.objects.update(how="breaker")
    run = run_all(start(), rounds=1)
    assert totals(run) == {}
    assert run.lanes.exclude(not_before=None).exists()
    assert DeadLetter.objects.get().attempts == 1
    mend()
    assert totals(run_all(run)) == {"succeeded": 1}


def test_a_rebuild_is_refused_while_a_replay_is_under_way(fail: Callable[..., None], start: Start) -> None:
    fail("a")
    run = start()
    row = Projection.objects.get(name="letters")
    with pytest.raises(ProjectionStateError, match=f"[Rr]un {run.pk}"):
        start_rebuild(row, actor="olga", reason="", request_key=uuid4())
