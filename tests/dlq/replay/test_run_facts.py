"""The page of a replay says how it goes about it, and what came of it that nobody asked for."""

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

from dashboard.models import Lane, Run
from dashboard.runs.kinds import MORE, get_rest
from dashboard.runs.lanes import claim, release
from dashboard.runs.operations import cancel_run
from dashboard.runs.states import move, settle
from dlq.api import record_failure
from dlq.filters import LetterFilter
from dlq.items import release_ended
from dlq.masking import HIDDEN
from dlq.models import DeadLetter, FailureGroup, LetterRunItem
from dlq.operations import Done, stop_replays
from dlq.queries.replay_run import describe_run
from dlq.replay.kind import Replay
from dlq.replay.options import ReplayOptions
from dlq.reprocess.choice import EventChoice
from dlq.retention import KEEP_ITEMS_DAYS, purge
from dlq.selection import select_matching
from projections.models import Projection
from projections.models.event import Event
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


def test_the_end_of_an_error_is_no_second_stop(operator: Client, fail: Fail, start: Start) -> None:
    fail("a", events=1)
    run = run_all(start())
    FailureGroup.objects.update(title="HttpTroubleError: shop took longer than <n> s.")
    assert "took longer than &lt;n&gt; s, last" in strip_tags(read(operator, run))


def test_its_page_leads_to_its_letters_for_as_long_as_they_are_known(
    operator: Client, fail: Fail, mend: Callable[..., None], start: Start
) -> None:
    fail("a", "b", events=2)
    mend("a")
    run = run_all(start())
    fail("c")
    link = f"{reverse('dlq:letters')}?run={run.pk}&status=any"
    assert f'href="{escape(link)}">See its letters</a>' in read(operator, run)
    html = read_html(operator.get(link))
    assert "Exactly 4 letters match." in html
    found = set(map(int, re.findall(rf'href="{reverse("dlq:letters")}(\d+)/', html)))
    assert found == set(LetterRunItem.objects.filter(run=run).values_list("letter", flat=True))
    assert "Exactly 1 letter matches." in read_html(operator.get(link.replace("any", "open")))
    Run.objects.filter(pk=run.pk).update(ended_at=timezone.now() - timedelta(days=KEEP_ITEMS_DAYS))
    html = read(operator, run)
    assert "See its letters" not in html
    assert f"<dt>Its letters</dt><dd>which they were was known for {KEEP_ITEMS_DAYS} days</dd>" in html
    # What is not known is no empty list.
    answer = operator.get(link)
    assert answer.status_code == 400
    said = f"It is known for {KEEP_ITEMS_DAYS} days which letters a run had; run {run.pk} ended before that."
    assert said in answer.content.decode()
    assert "There is no run 999999." in operator.get(f"{reverse('dlq:letters')}?run=999999").content.decode()


def test_a_reprocessing_leads_to_the_letters_that_it_made(
    operator: Client, handled: None, reprocess: Callable[..., Run]
) -> None:
    Event.objects.filter(position=1).update(data={"amount": 2, "mark": "a"})
    Fault.objects.create(mark="a", how="KeyError")
    dry = run_all(reprocess(options=DRY, acknowledged=False, reason=""))
    run = run_all(reprocess())
    link = f"{reverse('dlq:letters')}?run={run.pk}&status=any"
    assert f'href="{escape(link)}">See the letters of its failures</a>' in read(operator, run)
    assert "Exactly 1 letter matches." in read_html(operator.get(link))
    assert "letters of its failures" not in read(operator, dry)


def test_a_run_that_closes_letters_leads_to_them(
    operator: Client,
    make_letters: Callable[..., list[DeadLetter]],
    do: Callable[..., Done],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dlq.operations.letters.MOST_AT_ONCE", 5)
    make_letters(10)
    form = LetterFilter({}, user=None)
    assert form.is_valid()
    run = do("resolve", select_matching(form), 10).run
    assert run is not None
    assert f'{escape("?run=")}{run.pk}&amp;status=any">See its letters</a>' in read(operator, run)
    Run.objects.update(ended_at=timezone.now() - timedelta(days=KEEP_ITEMS_DAYS))
    assert f"Which letters it had was known for {KEEP_ITEMS_DAYS} days." in read(operator, run)


def purge_all(settings: Any) -> None:
    """As beat does it a month after all of them were closed."""
    settings.KEEP_CLOSED_DAYS = 30
    DeadLetter.objects.update(closed_at=timezone.now() - timedelta(days=31))
    purge()
    assert not DeadLetter.objects.exists()


def test_a_run_whose_letters_were_purged_says_so_and_leads_to_none(
    operator: Client,
    make_letters: Callable[..., list[DeadLetter]],
    do: Callable[..., Done],
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    monkeypatch.setattr("dlq.operations.letters.MOST_AT_ONCE", 5)
    make_letters(10)
    form = LetterFilter({}, user=None)
    assert form.is_valid()
    run = do("resolve", select_matching(form), 10).run
    assert run is not None
    assert totals(run_all(run)) == {"done": 10}
    said = "Its letters have been purged since: closed letters are kept for a set time only."
    assert said not in read(operator, run)
    purge_all(settings)
    html = read(operator, run)
    assert said in html
    assert "See its letters" not in html


def test_a_replay_whose_letters_were_purged_says_so_and_leads_to_none(
    operator: Client, fail: Fail, mend: Callable[..., None], start: Start, settings: Any
) -> None:
    fail("a", events=2)
    mend()
    run = run_all(start())
    said = "<dt>Its letters</dt><dd>purged since: closed letters are kept for a set time only</dd>"
    assert said not in read(operator, run)
    purge_all(settings)
    html = read(operator, run)
    assert said in html
    assert "See its letters" not in html


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


def test_of_what_fails_in_it_the_last_time_counts_whichever_item_it_was(fail: Fail, start: Start) -> None:
    fail("a", "b", events=1)
    run = run_all(start())
    first, second = LetterRunItem.objects.filter(run=run).order_by("pk")
    LetterRunItem.objects.filter(pk=second.pk).update(at=run.created_at)
    [failing] = describe_run(run)["failing"]
    assert (failing.number, failing.last_at) == (2, first.at)


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
