"""The canary ladder, stopping after failures, pace, dry run, and the switch that stops everything."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard import attention
from dashboard.models import Run
from dashboard.runs import lanes
from dashboard.runs.operations import cancel_run, pause_run, resume_run
from dashboard.runs.worker import run_lane
from dlq import items
from dlq.management.sentences import describe_letters
from dlq.models import DeadLetter, LetterRunItem
from dlq.operations import ReplayRefused, allow_replays, stop_replays
from dlq.queries.replay import preview_replay
from dlq.replay import pace
from dlq.replay.kind import Replay
from dlq.replay.ladder import get_rung
from dlq.replay.options import ReplayOptions
from dlq.replay.outcomes import SAME, Ending, Results
from dlq.selection import Selection
from tests.dlq.replay.conftest import QUICK, notes, run_all, statuses, totals
from tests.shop.models import Applied, Fault

Start = Callable[..., Run]
LADDER = ReplayOptions(canary=True, stop_after=5)


def rungs(run: Run) -> dict[int, int]:
    found: dict[int, int] = {}
    for rung in LetterRunItem.objects.filter(run=run).values_list("rung", flat=True):
        found[rung] = found.get(rung, 0) + 1
    return found


def test_the_ladder_is_of_heads_of_different_sequences_and_goes_on_by_itself(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail(*(f"s{n}" for n in range(15)))
    mend()
    run = start(options=LADDER)
    assert rungs(run) == {1: 1, 2: 10, 3: 4, 4: 30}
    climbing = LetterRunItem.objects.filter(run=run, rung__lt=4).values_list("letter__sequence_no", flat=True)
    assert set(climbing) == {1}
    run_all(run)
    assert (run.state, totals(run)) == ("finished", {"succeeded": 45})


def test_any_failure_on_the_first_rung_pauses_and_whoever_resumes_goes_on(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail(*(f"s{n}" for n in range(15)))
    run = start(options=LADDER)
    first = LetterRunItem.objects.get(run=run, rung=1).letter.sequence_key
    mend(*({f"s{n}" for n in range(15)} - {first}))
    run_all(run)
    assert (run.state, totals(run)) == ("paused", {"same_error": 1})
    assert "1 failed; it was the first" in run.events.get(state="pausing").note
    # A slice that is under way meanwhile finds nothing that it may play.
    assert get_rung(run) == 1
    resume_run(run, actor="olga")
    run_all(run)
    assert (run.state, totals(run)) == ("finished", {"succeeded": 42, "same_error": 1, "held": 2})


def test_lanes_that_were_at_work_when_the_first_failed_play_nothing_of_the_next_rung(
    fail: Callable[..., None], start: Start
) -> None:
    fail(*(f"s{n}" for n in range(15)))
    run = start(options=LADDER)
    first = LetterRunItem.objects.get(run=run, rung=1).lane
    others = run.lanes.exclude(number=first).values_list("number", "epoch")
    holds = [lanes.claim(run.pk, number, epoch, holder="test") for number, epoch in others]
    run_lane(run.pk, first, run.lanes.get(number=first).epoch)
    for hold in holds:
        assert hold is not None
        Replay().work(hold)
    run.refresh_from_db()
    assert (run.state, get_rung(run), totals(run)) == ("pausing", 1, {"same_error": 1})


@pytest.mark.parametrize("options", [LADDER, ReplayOptions(canary=False, stop_after=1)])
def test_when_nothing_is_left_there_is_nothing_to_pause(
    fail: Callable[..., None], start: Start, options: ReplayOptions
) -> None:
    fail("s0", events=1)
    run = run_all(start(options=options))
    assert (run.state, totals(run)) == ("finished", {"same_error": 1})


def test_failures_up_to_the_limit_pause_it_and_are_forgiven_when_it_is_resumed(
    fail: Callable[..., None], start: Start
) -> None:
    fail(*(f"s{n}" for n in range(40)), events=1)
    run = run_all(start(options=ReplayOptions(canary=False, stop_after=3, lanes=1, pace=20)))
    assert run.state == "paused"
    failed = totals(run)["same_error"]
    assert 3 <= failed < 40
    # However many more failed before the pause was seen.
    assert run.events.get(state="pausing").note.startswith("The limit of 3 failures is reached. Resume")
    resume_run(run, actor="olga")
    run_all(run)
    assert (run.state, totals(run)["same_error"] > failed) == ("paused", True)


def test_so_many_failures_as_pause_a_run_end_the_slice_that_has_them(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail(*(f"s{n}" for n in range(40)), events=1)
    run = run_all(start(options=ReplayOptions(canary=False, stop_after=3, lanes=1)))
    assert (run.state, totals(run)) == ("paused", {"same_error": 3})
    mend()
    resume_run(run, actor="olga")
    run_all(run)
    assert (run.state, totals(run)) == ("finished", {"same_error": 3, "succeeded": 37})


def test_pause_resume_and_cancel_keep_what_is_done(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail("a", "b")
    mend()
    run = start()
    pause_run(run, actor="olga")
    assert totals(run_all(run)) == {}
    resume_run(run, actor="olga")
    cancel_run(run, actor="olga", reason="no")
    run_all(run)
    items.release_ended()
    assert run.state == "cancelled"
    assert set(statuses().values()) == {"failed", "parked"}
    assert totals(run_all(start())) == {"succeeded": 6}


def test_a_dry_run_says_what_would_happen_and_changes_nothing(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail("a", "b")
    mend("a")
    Fault.objects.filter(mark="b").update(how="KeyError")
    before = list(DeadLetter.objects.order_by("pk").values())
    run = run_all(start(options=ReplayOptions(canary=False, dry_run=True)))
    assert totals(run) == {"succeeded": 3, "new_error": 1, "held": 2}
    assert list(DeadLetter.objects.order_by("pk").values()) == before
    assert not Applied.objects.exists()
    head = DeadLetter.objects.get(sequence_key="b", sequence_no=1)
    behind = f"behind an earlier letter of the same sequence (letter {head.pk})"
    assert notes(run) == ["KeyError: <value>", behind, behind]


def test_a_dry_run_cuts_no_sequence_in_two_whatever_its_pace(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail("a", "b", events=4)
    mend()
    run = start(options=ReplayOptions(canary=False, dry_run=True, lanes=1, pace=8))
    hold = lanes.claim(run.pk, 0, 0, holder="test")
    assert hold is not None
    Replay().work(hold)
    assert totals(run) == {"succeeded": 4}
    # What was taken beyond the quarter of a second's worth is waited for.
    run.refresh_from_db()
    assert datetime.fromisoformat(run.options["allotted_to"]) >= run.created_at + timedelta(seconds=4 / 8)
    Replay().work(hold)
    assert totals(run) == {"succeeded": 8}


def test_a_dry_run_of_a_sequence_that_is_too_long_for_one_slice_says_where_it_stops(
    fail: Callable[..., None],
    mend: Callable[..., None],
    start: Start,
    everything: Callable[[], Selection],
    operator: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dlq.targets.handler.BATCH_SIZE", 3)
    fail("a", "b", events=3)
    fail("c", events=8)
    mend()
    assert preview_replay(everything()).beyond_count == 5
    asked = operator.get(f"{reverse('dlq:confirm_replay')}?scope=matching").content.decode()
    assert (
        "Of each sequence only the first 3 are tried; what comes after those is held, 5 letters in all<"
        in asked
    )
    told = (
        "Of each sequence a dry run tries only the first 3; what comes after those is held, 5 letters in all."
    )
    assert told in list(describe_letters(preview_replay(everything())))
    run = run_all(start(options=ReplayOptions(canary=False, dry_run=True, lanes=1)))
    assert totals(run) == {"succeeded": 9, "held": 5}
    assert notes(run) == ["earlier ones of the same sequence were tried and undone already"] * 5
    html = operator.get(reverse("runs:run", args=[run.pk])).content.decode()
    assert "everything is undone again; of a sequence the first 3 are tried at most" in html
    assert "<b>5</b> held: earlier ones of the same sequence were tried and undone already" in html
    # Done in earnest it goes through.
    assert totals(run_all(start())) == {"succeeded": 14}


def test_there_is_no_dry_run_of_effects_outside(fail: Callable[..., None], start: Start) -> None:
    fail("a", consumer="mailer")
    with pytest.raises(ReplayRefused, match="effects outside this database"):
        start(options=ReplayOptions(canary=False, dry_run=True))


def test_a_consumer_whose_letters_all_stay_has_no_say(
    fail: Callable[..., None], start: Start, everything: Callable[[], Selection]
) -> None:
    fail("a", events=1)
    fail("b", events=1, consumer="mailer")
    assert "mailer" in preview_replay(everything()).no_dry_run
    DeadLetter.objects.filter(consumer="mailer").update(tier="poison")
    found = preview_replay(everything())
    assert (found.no_dry_run, found.is_at_least_once, len(found.health)) == ("", False, 1)
    assert found.left_out["poison"] == DeadLetter.objects.filter(consumer="mailer").count()
    run = start(options=ReplayOptions(canary=False, dry_run=True))
    assert run.options["consumers"] == ["letters"]
    assert run.title.endswith("of letters")


def test_the_switch_stops_all_replays_is_seen_and_lets_them_go_on(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail("a")
    mend()
    run = start()
    stop_replays(actor="olga", reason="payments are down")
    run_all(run, rounds=2)
    assert totals(run) == {}
    with pytest.raises(ReplayRefused, match="payments are down"):
        start(confirmed=0)
    assert any("All replays are stopped" in need.headline for need in attention.list_attention())
    allow_replays(actor="olga")
    assert totals(run_all(run)) == {"succeeded": 3}


def test_a_lane_that_waits_for_the_others_uses_up_nothing_of_their_pace(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail(*(f"s{n}" for n in range(15)))
    mend()
    run = start(options=ReplayOptions(canary=True, stop_after=5, pace=1))
    first = LetterRunItem.objects.get(run=run, rung=1)
    others = run.lanes.exclude(number=first.lane)
    assert others.count() > 1
    for number, epoch in others.values_list("number", "epoch"):
        run_lane(run.pk, number, epoch)
    run.refresh_from_db()
    assert "allotted_to" not in run.options
    assert pace.allot(run, ReplayOptions.of(run), 1000) == 1


def test_where_a_slice_is_one_event_no_more_of_the_pace_is_used_up(
    fail: Callable[..., None], mend: Callable[..., None], start: Start
) -> None:
    fail("a", consumer="mailer")
    mend()
    run = start(options=ReplayOptions(canary=False, lanes=1, pace=40))
    hold = lanes.claim(run.pk, 0, 0, holder="test")
    assert hold is not None
    Replay().work(hold)
    assert totals(run) == {"succeeded": 1}
    run.refresh_from_db()
    assert datetime.fromisoformat(run.options["allotted_to"]) <= timezone.now() + timedelta(seconds=1 / 40)


def test_a_pace_is_allotted_from_the_run_halved_by_failures_and_recovers(
    fail: Callable[..., None], start: Start
) -> None:
    fail("a")
    options = ReplayOptions(canary=False, pace=40)
    run = start(options=options)
    assert [pace.allot(run, options, most) for most in (1, 1000, 1000)] == [1, 10, 10]
    item = LetterRunItem.objects.filter(run=run).first()
    failed = Results(endings=[Ending(item, SAME)])  # type: ignore[arg-type]
    pace.adjust(run, options, failed)
    run.refresh_from_db()
    assert run.options["pace_now"] == 20
    pace.adjust(run, options, Results())
    run.refresh_from_db()
    assert run.options["pace_now"] == 22


def test_without_a_ladder_all_are_on_the_last_rung(fail: Callable[..., None], start: Start) -> None:
    fail("a")
    assert rungs(start(options=QUICK)) == {4: 3}
