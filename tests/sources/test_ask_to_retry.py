"""The target `source`: its row is asked to be tried again, and the run shows what became of it, not before."""

from collections.abc import Callable
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from django.db import connection, transaction

from dlq.models import Attempt, DeadLetter, LetterRunItem
from dlq.overrides import set_override
from dlq.queries.replay import preview_replay
from dlq.replay import confirming
from dlq.selection import Selection, newest_id
from sources.models import ForeignRow, OwedWrite, SourceState
from tests.dlq.replay.conftest import run_all, totals
from tests.sources.foreign import Foreign
from tests.sources.stranded import replay
from tests.wait import count_waiting, until

pytestmark = pytest.mark.django_db(transaction=True)
Sync = Callable[..., SourceState]


@pytest.fixture(autouse=True)
def configured(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing is heard until a test says so: a lane need not listen for a while.
    monkeypatch.setattr(confirming, "LIVELY", timedelta(0))
    settings.CONSUMERS = {"orders/OrderSummary": {"target": "source"}}


@pytest.fixture(params=["eventsource-py", "sql"])
def foreign(request: pytest.FixtureRequest, make_foreign: Callable[..., Foreign]) -> Foreign:
    return make_foreign(request.param)


@pytest.fixture
def running(make_foreign: Callable[..., Foreign]) -> Foreign:
    """A table that says so while its owner tries a row."""
    return make_foreign("sql", open=["new", "again", "running"])


def test_it_is_sent_until_the_source_says_what_became_of_it(foreign: Foreign, sync: Sync) -> None:
    good, bad, slow = foreign.add(3)
    sync()
    run = replay()
    assert totals(run) == {"sent": 3}
    assert {foreign.get_status(key)[0] for key in (good, bad, slow)} == {foreign.words["retry"]}
    sync()
    assert DeadLetter.objects.filter(status="failed").count() == 3
    foreign.set_status(good, foreign.words["resolved"])
    foreign.fail_again(bad)
    sync()
    run_all(run, rounds=2)
    outcomes = {
        item.letter.source_key: item.outcome
        for item in LetterRunItem.objects.select_related("letter").filter(run=run)
    }
    assert outcomes == {good: "succeeded", bad: "new_error", slow: "sent"}
    assert totals(run) == {"succeeded": 1, "new_error": 1, "sent": 1}
    assert run.state == "running"
    letter = DeadLetter.objects.get(source_key=good)
    assert (letter.status, letter.resolution, letter.replays) == ("resolved", "replayed", 1)
    assert Attempt.objects.get(letter=letter, run=run).outcome == "succeeded"
    assert DeadLetter.objects.get(source_key=bad).replays == 1
    foreign.set_status(slow, foreign.words["resolved"])
    sync()
    run_all(run)
    assert (run.state, totals(run)) == ("finished", {"succeeded": 2, "new_error": 1})
    assert not LetterRunItem.objects.filter(is_active=True).exists()
    assert not OwedWrite.objects.exists()


def test_an_owner_that_is_at_work_has_not_failed(running: Foreign, sync: Sync) -> None:
    good, bad, left = running.add(3)
    sync()
    run = replay()
    # It counts the try when it begins.
    running.execute("UPDATE failed_messages SET state = 'running', tries = tries + 1")
    sync()
    run_all(run, rounds=2)
    assert totals(run) == {"sent": 3}
    running.set_status(good, "done")
    running.fail_again(bad)
    # Given back without a try.
    running.set_status(left, "new")
    sync()
    run_all(run, rounds=2)
    assert (run.state, totals(run)) == ("finished", {"succeeded": 1, "new_error": 1, "same_error": 1})


def test_a_row_that_was_tried_and_waits_to_be_tried_again_has_failed(running: Foreign, sync: Sync) -> None:
    running.add()
    sync()
    run = replay()
    running.execute("UPDATE failed_messages SET tries = tries + 1")
    sync()
    run_all(run, rounds=2)
    assert (run.state, totals(run)) == ("finished", {"same_error": 1})


def test_of_several_rows_the_one_that_was_asked_for_counts(running: Foreign, sync: Sync) -> None:
    older, newer = running.add(2, event_id="the same")
    sync()
    running.set_status(newer, "done")
    sync()
    run = replay()
    assert running.get_status(older)[0] == "again"
    sync()
    run_all(run, rounds=2)
    assert totals(run) == {"sent": 1}
    assert (running.get_status(older)[0], DeadLetter.objects.get().status) == ("again", "failed")
    running.set_status(older, "done")
    sync()
    run_all(run, rounds=2)
    assert (run.state, totals(run)) == ("finished", {"succeeded": 1})


def test_the_next_of_a_sequence_is_asked_for_when_the_one_before_is_done(
    foreign: Foreign, sync: Sync
) -> None:
    first, second = foreign.add(2, sequence="order-1")
    sync()
    run = replay()
    assert [foreign.get_status(key)[0] for key in (first, second)] == [
        foreign.words["retry"],
        foreign.words["open"],
    ]
    foreign.set_status(first, foreign.words["resolved"])
    sync()
    run_all(run, rounds=2)
    assert foreign.get_status(second)[0] == foreign.words["retry"]


def test_a_row_that_moved_meanwhile_is_not_asked(foreign: Foreign, sync: Sync) -> None:
    [key] = foreign.add()
    sync()
    foreign.set_status(key, foreign.words["resolved"])
    run = replay()
    assert totals(run) == {"new_error": 1}
    assert "has moved" in Attempt.objects.get(run=run).error_message
    assert foreign.get_status(key)[0] == foreign.words["resolved"]


def test_an_ask_that_was_written_and_not_recorded_counts_as_asked(foreign: Foreign, sync: Sync) -> None:
    """As after a death between the commit there and the commit here."""
    [key] = foreign.add()
    sync()
    foreign.set_status(key, foreign.words["retry"])
    assert totals(replay()) == {"sent": 1}
    assert ForeignRow.objects.get().status == foreign.words["retry"]


def test_a_replaced_payload_is_not_left_to_the_source(foreign: Foreign, sync: Sync) -> None:
    [key] = foreign.add()
    sync()
    letter = DeadLetter.objects.get()
    set_override(
        letter.consumer,
        letter.event_id,
        kind="replaced",
        payload={"total": 1},
        source="orders",
        actor="alice",
        reason="",
    )
    run = replay()
    assert totals(run) == {"new_error": 1}
    assert "would try the original" in Attempt.objects.get(run=run).error_message
    assert foreign.get_status(key)[0] == foreign.words["open"]


def test_a_letter_that_is_closed_by_hand_meanwhile_is_no_success_of_the_replay(
    foreign: Foreign, sync: Sync
) -> None:
    foreign.add()
    sync()
    run = replay()
    DeadLetter.objects.update(status="resolved", resolution="by_hand", closed_by="alice")
    sync()
    run_all(run)
    assert totals(run) == {"skipped": 1}


def test_a_row_that_is_done_while_its_run_asks_about_it_is_a_success(foreign: Foreign, sync: Sync) -> None:
    [key] = foreign.add()
    sync()
    run = replay()
    asks = Thread(target=lambda: (run_all(run, rounds=1), connection.close()))
    with transaction.atomic():
        list(DeadLetter.objects.select_for_update())
        asks.start()
        # It has heard nothing, and is about to write that down.
        until(lambda: count_waiting() == 1)
        foreign.set_status(key, foreign.words["resolved"])
        sync()
    asks.join()
    assert DeadLetter.objects.get().status == "resolved"
    run_all(run, rounds=2)
    assert (run.state, totals(run)) == ("finished", {"succeeded": 1})


def test_a_source_without_a_word_for_it_says_so(make_foreign: Callable[..., Foreign], sync: Sync) -> None:
    make_foreign("platform-services").add()
    sync()
    selection = Selection(DeadLetter.objects.all(), newest_id(), is_by_hand=False, description={})
    [health] = preview_replay(selection).health
    assert not health.is_well
    assert "no word for a row" in health.sentence
    assert health.sentence.endswith(" Its letters would fail at once.")
