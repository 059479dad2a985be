"""Handlers that do what no handler should: nothing is lost by it, and the event pays."""

import logging
import signal
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from dashboard.models import Run
from dlq.models import DeadLetter
from projections.definition import find_projector
from projections.models import Projection, Skip
from projections.runtime.consumer import take_turn_safely
from projections.runtime.trial import token_of
from tests.dlq.conftest import someone
from tests.dlq.replay.conftest import everything, run_all, start, totals
from tests.projections.conftest import RecordedClock
from tests.shop import faults
from tests.shop.models import Fault

__all__ = ["everything", "someone", "start"]

Pay = Callable[..., int]
Work = Callable[..., Projection]
Positions = Callable[[str], list[int]]


def test_a_handler_that_swallows_the_error_of_a_statement_has_failed(
    pay: Pay, work: Work, applied: Positions
) -> None:
    pay("a", 1, mark="x", how="swallow")
    pay("b", 2)
    work("letters")
    assert applied("letters") == [2]
    letter = DeadLetter.objects.get()
    assert (letter.position, letter.error_type) == (1, "SwallowedError")
    assert "IntegrityError" in letter.body.stacktrace


def test_a_handler_that_changes_its_event_changes_no_record_of_it(
    pay: Pay, work: Work, start: Callable[[], Run], settings: Any
) -> None:
    settings.MASKED_PATHS = ["$.amount"]
    pay("a", 17, mark="x", how="change")
    assert work("journal").error_message == "amount ••• is not possible"
    work("letters")
    letter = DeadLetter.objects.get()
    assert letter.body.payload == {"amount": 17, "mark": "x"}
    assert totals(run_all(start())) == {"same_error": 1}
    letter.body.refresh_from_db()
    assert letter.body.payload == {"amount": 17, "mark": "x"}


def test_what_a_failed_handler_did_is_undone_without_its_alarm(pay: Pay, work: Work) -> None:
    armed = []

    def watch(execute: Any, sql: str, *args: Any) -> Any:
        if sql.startswith("ROLLBACK TO"):
            armed.append(signal.getitimer(signal.ITIMER_REAL)[0] > 0)
        return execute(sql, *args)

    pay("a", 1, mark="x", how="ValueError")
    with connection.execute_wrapper(watch):
        work("mailer")
    assert armed == [False]


def test_an_error_that_cannot_be_stored_or_even_written_is_an_error_like_any_other(
    pay: Pay, work: Work, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # Tests in several processes report what was logged to each other, and cannot carry half a character.
    caplog.set_level(logging.CRITICAL)

    class Unwritten(Exception):
        def __str__(self) -> str:
            raise ValueError("it has no words")

    monkeypatch.setitem(faults.ERRORS, "binary", ValueError("header \0\ud800"))
    monkeypatch.setitem(faults.ERRORS, "unwritten", Unwritten())
    pay("a", 1, mark="x", how="binary")
    for name in ("journal", "cache", "letters", "hybrid"):
        work(name)
    assert Projection.objects.get(name="journal").error_message == "header ␀\ufffd"
    assert Skip.objects.get().error_message == "header ␀\ufffd"
    assert Projection.objects.get(name="hybrid").block == "retry"
    pay("b", 2, mark="y", how="unwritten")
    work("letters")
    assert list(DeadLetter.objects.order_by("position").values_list("position", "status")) == [
        (1, "failed"),
        (2, "failed"),
    ]


def test_a_handler_that_leaves_its_process_kills_it(pay: Pay, work: Work, clock: RecordedClock) -> None:
    pay("a", 1, mark="x", how="quit")
    projector = find_projector("letters")
    assert projector is not None
    for _ in range(3):
        with pytest.raises(SystemExit):
            take_turn_safely(projector, clock)
        token_of.cache_clear()
        Projection.objects.update(trial_at=timezone.now() - timedelta(minutes=1))
    work("letters")
    letter = DeadLetter.objects.get()
    assert (letter.error_type, letter.tier) == ("ProcessDied", "poison")


def live_and_die(clock: RecordedClock) -> bool:
    """One process's life: turn after turn until there is nothing to do now; True if it died."""
    projector = find_projector("letters")
    assert projector is not None
    try:
        for _ in range(20):
            if take_turn_safely(projector, clock) > 0:
                return False
    except SystemExit:
        token_of.cache_clear()
        Projection.objects.update(trial_at=timezone.now() - timedelta(minutes=1))
        return True
    return False


def test_the_third_death_makes_poison_also_while_another_event_waits_for_a_breaker_in_between(
    pay: Pay, clock: RecordedClock, applied: Positions
) -> None:
    pay("a", 1, mark="x", how="breaker")
    pay("b", 2, mark="y", how="quit")
    pay("c", 3)
    deaths = 0
    while deaths < 5 and live_and_die(clock):
        deaths += 1
        # By now the breaker may be asked again.
        clock.sleep(31)
    assert deaths == 3
    letter = DeadLetter.objects.get()
    assert (letter.position, letter.error_type, letter.tier) == (2, "ProcessDied", "poison")
    assert applied("letters") == [3]


def test_the_deaths_of_an_event_that_waited_are_not_counted_against_the_one_after_the_checkpoint(
    pay: Pay, work: Work, clock: RecordedClock, applied: Positions
) -> None:
    pay("a", 1, mark="x", how="breaker")
    work("letters")
    Fault.objects.update(how="quit")
    pay("b", 2)
    clock.sleep(31)
    for _ in range(3):
        assert live_and_die(clock)
    assert not live_and_die(clock)
    assert list(DeadLetter.objects.values_list("position", "tier")) == [(1, "poison")]
    assert applied("letters") == [2]
