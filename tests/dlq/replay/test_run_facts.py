"""The page of a replay says how it goes about it, and what came of it that nobody asked for."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from dashboard.models import Lane, Run
from dashboard.runs.lanes import claim
from dashboard.runs.operations import cancel_run
from dlq.api import record_failure
from dlq.models import DeadLetter, FailureGroup, LetterRunItem
from dlq.operations import stop_replays
from dlq.queries.replay_run import describe_run
from dlq.replay.options import ReplayOptions
from dlq.reprocess.choice import EventChoice
from projections.models import Projection
from tests.dlq.replay.conftest import QUICK, run_all, totals
from tests.markup import read_html
from tests.projections.conftest import RecordedClock
from tests.shop.models import Fault

Fail = Callable[..., None]
Start = Callable[..., Run]
DRY = ReplayOptions(canary=False, dry_run=True)


def read(client: Client, run: Run) -> str:
    return read_html(client.get(reverse("runs:run", args=[run.pk])))


def test_pace_and_force_and_what_failures_do_to_it(operator: Client, fail: Fail, start: Start) -> None:
    fail("a", events=2)
    DeadLetter.objects.filter(sequence_no=1).update(tier="poison")
    run = start(options=ReplayOptions(pace=10_000, stop_after=1, force=True), reason="mended")
    text = strip_tags(read(operator, run))
    assert "1, 10, 100, the rest; now at the first" in text
    assert "10,000 a second" in text
    assert "because of failures" not in text
    assert "if the first fails, and then after 1 failure" in text
    assert "poison, and what is not to be sent again as it is" in text
    assert run_all(run).state == "paused"
    text = strip_tags(read(operator, run))
    assert "10,000 a second, and goes on at 5,000 because of failures" in text
    assert "Replay 2 letters of letters: paused; 1 failed with the same error, 1 still to do" in text
    Run.objects.update(state="running")
    assert "10,000 a second, at the moment 5,000 because of failures" in strip_tags(read(operator, run))
    Run.objects.update(state="paused")
    cancel_run(run, actor="olga", reason="")
    text = strip_tags(read(operator, run))
    assert "10,000 a second" in text
    assert "because of failures" not in text
    assert "it got as far as the first" in text
    assert "Replay 2 letters of letters: cancelled; 1 failed with the same error, 1 untouched" in text


def test_what_came_along_and_what_failed_meanwhile(
    operator: Client,
    fail: Fail,
    mend: Callable[..., None],
    clock: RecordedClock,
    pay: Callable[..., int],
    work: Callable[..., Projection],
    start: Start,
) -> None:
    fail("a", events=2)
    run = start()
    assert "new letter" not in read(operator, run)
    pay("a", 9)
    work("letters")
    clock.sleep(60)
    fail("b", events=1)
    # Of another source, whose consumer has the same name.
    record_failure(
        source="kafka", consumer="letters", event_id="e1", failed_at=clock.now(), error_type="KeyError"
    )
    mend("a")
    run_all(run)
    Run.objects.update(ended_at=clock.now())
    clock.sleep(60)
    fail("c", events=1)
    text = strip_tags(read(operator, run))
    assert "Replay 2 letters of letters and 1 parked behind them: finished; 3 succeeded" in text
    assert "2 were confirmed, and 1 more was parked behind them while it ran" in text
    assert "1 new letter of the same consumer failed, which is not part of this" in text


def test_what_came_along_with_one_letter_stood_behind_it(
    operator: Client,
    fail: Fail,
    mend: Callable[..., None],
    pay: Callable[..., int],
    work: Callable[..., Projection],
    start: Start,
) -> None:
    fail("a", events=1)
    run = start()
    pay("a", 8, 9)
    work("letters")
    mend("a")
    text = strip_tags(read(operator, run_all(run)))
    assert "Replay 1 letter of letters and 2 parked behind it: finished; 3 succeeded" in text
    assert "1 was confirmed, and 2 more were parked behind it while it ran" in text


def test_the_end_of_an_error_is_no_second_stop(operator: Client, fail: Fail, start: Start) -> None:
    fail("a", events=1)
    run = run_all(start())
    FailureGroup.objects.update(title="HttpTroubleError: shop took longer than <n> s.")
    assert "took longer than &lt;n&gt; s, last" in strip_tags(read(operator, run))


def test_of_what_fails_in_it_the_last_time_counts_whichever_item_it_was(fail: Fail, start: Start) -> None:
    fail("a", "b", events=1)
    run = run_all(start())
    first, second = LetterRunItem.objects.filter(run=run).order_by("pk")
    LetterRunItem.objects.filter(pk=second.pk).update(at=run.created_at)
    [failing] = describe_run(run)["failing"]
    assert (failing.number, failing.last_at) == (2, first.at)


def test_a_group_that_is_gone_since_is_said_to_be(operator: Client, fail: Fail, start: Start) -> None:
    fail("a", events=1)
    run = run_all(start())
    assert "ValueError" in read(operator, run)
    FailureGroup.objects.all()._raw_delete("default")
    assert "same error of a group that is gone by now, last" in strip_tags(read(operator, run))


def test_what_is_not_counted_to_the_end_is_said_to_be(
    operator: Client,
    fail: Fail,
    clock: RecordedClock,
    start: Start,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, most in (("LOOKED_AT", 2), ("SHOWN_GROUPS", 1), ("MOST_COUNTED", 2)):
        monkeypatch.setattr(f"dlq.queries.replay_run.{name}", most)
    fail("a", "b")
    run = run_all(start())
    assert totals(run) == {"same_error": 2, "held": 4}
    text = strip_tags(read(operator, run))
    assert "What fails in itof" not in text
    assert "What was held or skippedof the newest 2 of each outcome" in text
    Fault.objects.filter(mark="a").update(how="KeyError")
    clock.sleep(60)
    fail("c", "d", events=1)
    run = run_all(start())
    assert totals(run) == {"same_error": 3, "new_error": 1, "held": 4}
    fail("e", "f", events=1)
    Run.objects.filter(pk=run.pk).update(ended_at=clock.now())
    text = strip_tags(read(operator, run))
    assert "What fails in itof the newest 2 of each outcome" in text
    assert " with other errors" in text
    assert "2 or more new letters" in text


def test_only_who_may_replay_is_offered_it_again(
    operator: Client, viewer: Client, fail: Fail, start: Start
) -> None:
    fail("a")
    run = run_all(start())
    assert totals(run) == {"same_error": 1, "held": 2}
    assert "Replay what failed or was held…" in read(operator, run)
    assert "Replay what failed or was held…" not in read(viewer, run)


def test_a_run_that_is_being_cancelled_is_so_although_all_are_stopped(
    operator: Client, fail: Fail, start: Start
) -> None:
    fail("a")
    run = start()
    lane = Lane.objects.filter(run=run).earliest("number")
    assert claim(run.pk, lane.number, lane.epoch, holder="somebody")
    cancel_run(run, actor="olga", reason="")
    stop_replays(actor="olga")
    html = read(operator, run)
    assert "All replays are stopped; this run is being cancelled all the same." in html
    assert "It ends after the slice in hand." in html


def test_a_reprocessing_says_which_events_were_chosen(
    operator: Client, handled: None, reprocess: Callable[..., Run]
) -> None:
    year = datetime(2026, 1, 1, tzinfo=UTC)
    later = datetime(2126, 1, 1, tzinfo=UTC)
    of_all = run_all(reprocess(EventChoice("letters", until=later), QUICK))
    text = strip_tags(read(operator, of_all))
    assert "events of letters that were handled before, recorded until 2126-01-01 00:00:00 UTC" in text
    run = run_all(
        reprocess(EventChoice("letters", types=("Paid",), stream="a", since=year, until=later), QUICK)
    )
    text = strip_tags(read(operator, run))
    assert (
        "that were handled before, of stream a, of type Paid, "
        "recorded from 2026-01-01 00:00:00 UTC until 2126-01-01 00:00:00 UTC" in text
    )
