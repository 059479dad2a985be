"""What becomes of an event that fails, and of those around it."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from dlq.api import Override, set_override
from dlq.models import Attempt, DeadLetter
from projections import api
from projections.api import Decision, FailureContext, Fatal, Projector
from projections.models import Projection, Skip, WaitingEvent
from projections.operations import pause_projection
from projections.runtime import handle
from projections.store import NewEvent, append
from tests.shop.models import Applied, Balance, Fault

Pay = Callable[..., int]
Work = Callable[..., Projection]
Positions = Callable[[str], list[int]]


def letters(consumer: str) -> list[tuple[int | None, str]]:
    found = DeadLetter.objects.filter(consumer=consumer).order_by("position")
    return list(found.values_list("position", "status"))


def test_events_are_applied_in_order_and_others_ignored(pay: Pay, work: Work, applied: Positions) -> None:
    pay("a", 1, 2)
    append("a", [NewEvent("Noted", {})])
    pay("b", 3)
    row = work("journal")
    assert applied("journal") == [1, 2, 4]
    assert (row.position, row.last_event_type, row.state) == (4, "Paid", "running")
    pace = row.paces.get()
    assert (pace.processed, pace.ignored, pace.failed) == (3, 1, 0)


def test_fatal_stops_before_the_event_and_keeps_what_was_before_it(
    pay: Pay, work: Work, applied: Positions
) -> None:
    pay("a", 1, 2)
    pay("b", 3, mark="x", how="ValueError")
    pay("c", 4)
    row = work("journal")
    assert applied("journal") == [1, 2]
    assert (row.state, row.block, row.position) == ("stopped", "fatal", 2)
    assert (row.error_type, row.error_message) == ("ValueError", "amount 17 is not possible")
    assert "misbehave" in row.stacktrace
    assert work("journal").position == 2


def test_a_dead_letter_parks_its_stream_and_lets_the_others_go_on(
    pay: Pay, work: Work, applied: Positions
) -> None:
    pay("a", 1)
    pay("a", 2, mark="x", how="KeyError")
    pay("b", 3)
    pay("a", 4)
    row = work("letters")
    pay("a", 5)
    pay("b", 6)
    row = work("letters")
    assert applied("letters") == [1, 3, 6]
    assert letters("letters") == [(2, "failed"), (4, "parked"), (5, "parked")]
    assert (row.position, row.state) == (6, "running")
    letter = DeadLetter.objects.get(position=2)
    assert (letter.sequence_key, letter.sequence_no, letter.attempts) == ("a", 2, 1)
    assert letter.body.payload == {"amount": 2, "mark": "x"}
    # A parked letter refers to its event; it does not copy it.
    assert DeadLetter.objects.get(position=4).body.payload is None


def test_a_skip_is_on_record_with_its_reason(pay: Pay, work: Work, applied: Positions) -> None:
    pay("a", 1, mark="x", how="ValueError")
    pay("a", 2)
    row = work("cache")
    assert applied("cache") == [2]
    skip = Skip.objects.get()
    assert (skip.position, skip.actor, skip.error_type) == (1, "policy", "ValueError")
    assert "fetched again" in skip.reason
    assert row.paces.get().skipped == 1


def test_a_ledger_whose_policy_skips_stops_instead(
    pay: Pay, work: Work, applied: Positions, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.shop.projections import Cache, Journal

    monkeypatch.setattr(Journal, "policy", Cache.policy)
    pay("a", 1, mark="x", how="ValueError")
    assert work("journal").state == "stopped"
    assert not Skip.objects.exists()


def test_a_skip_does_not_hide_behind_a_retry() -> None:
    gap: Any = api.Skip("nobody looks")
    with pytest.raises(ValueError, match="After a Retry comes Fatal or DeadLetter, and not Skip"):
        api.Retry((1.0,), then=gap)


def test_retries_are_persisted_and_a_letter_tells_every_try(
    pay: Pay, work: Work, clock: Any, applied: Positions
) -> None:
    pay("a", 1, mark="x", how="TimeoutError")
    pay("b", 2)
    row = work("hybrid")
    # The first retry is immediate; then a second.
    assert (row.block, row.attempt, applied("hybrid")) == ("retry", 2, [])
    assert row.next_at == clock.now() + timedelta(seconds=1)
    clock.sleep(1)
    assert work("hybrid").attempt == 3
    clock.sleep(2)
    row = work("hybrid")
    assert (row.block, row.attempt, row.tries, applied("hybrid")) == ("", 0, [], [2])
    letter = DeadLetter.objects.get()
    assert (letter.attempts, letter.category) == (4, "transient")
    assert Attempt.objects.filter(letter=letter).count() >= 3


def test_a_retry_that_succeeds_leaves_no_letter(pay: Pay, work: Work, clock: Any, applied: Positions) -> None:
    pay("a", 1, mark="x", how="TimeoutError")
    work("hybrid")
    Fault.objects.all().delete()
    clock.sleep(1)
    row = work("hybrid")
    assert (applied("hybrid"), row.position, row.block) == ([1], 1, "")
    assert not DeadLetter.objects.exists()


def test_an_outage_blocks_for_ever_without_a_letter(
    pay: Pay, work: Work, clock: Any, applied: Positions
) -> None:
    pay("a", 1, mark="x", how="DiskFull")
    for _ in range(20):
        row = work("letters")
        assert (row.block, row.position, row.attempt) == ("infrastructure", 0, 0)
        clock.sleep(5)
    Fault.objects.all().delete()
    assert (work("letters").block, applied("letters")) == ("", [1])
    assert not DeadLetter.objects.exists()


def test_an_open_breaker_makes_the_stream_wait_and_nothing_fails(
    pay: Pay, work: Work, clock: Any, applied: Positions
) -> None:
    pay("a", 1, mark="x", how="breaker")
    pay("b", 2)
    pay("a", 3)
    row = work("letters")
    assert (applied("letters"), row.position, row.block) == ([2], 3, "")
    assert list(WaitingEvent.objects.order_by("position").values_list("position", "breaker")) == [
        (1, "prices"),
        (3, ""),
    ]
    clock.sleep(31)
    work("letters")
    assert WaitingEvent.objects.count() == 2
    Fault.objects.all().delete()
    clock.sleep(31)
    work("letters")
    assert (applied("letters"), WaitingEvent.objects.count()) == ([2, 1, 3], 0)
    assert not DeadLetter.objects.exists()
    assert row.paces.filter(failed__gt=0).count() == 0


def test_a_waiting_event_that_fails_for_real_becomes_a_letter_with_its_followers(
    pay: Pay, work: Work, clock: Any, applied: Positions
) -> None:
    pay("a", 1, mark="x", how="breaker")
    pay("a", 2)
    work("letters")
    Fault.objects.update(how="KeyError")
    clock.sleep(31)
    work("letters")
    assert letters("letters") == [(1, "failed"), (2, "parked")]
    assert (applied("letters"), WaitingEvent.objects.count()) == ([], 0)


def test_a_waiting_event_that_fails_parks_many_followers_at_once(
    pay: Pay, work: Work, clock: Any, django_assert_max_num_queries: Any
) -> None:
    pay("a", 1, mark="x", how="breaker")
    pay("a", *range(2, 100))
    work("letters")
    Fault.objects.update(how="KeyError")
    clock.sleep(31)
    with django_assert_max_num_queries(100):
        work("letters")
    assert letters("letters") == [(1, "failed"), *((number, "parked") for number in range(2, 100))]


def test_an_event_that_waited_for_a_breaker_tells_its_letter_of_every_try(
    pay: Pay, work: Work, clock: Any
) -> None:
    pay("a", 1, mark="x", how="TimeoutError")
    assert work("hybrid").attempt == 2
    for how in ("breaker", "TimeoutError"):
        Fault.objects.update(how=how)
        for _ in range(8):
            clock.sleep(10)
            work("hybrid")
    # Two before it waited, and four of the policy's afterwards.
    assert DeadLetter.objects.get().attempts == 6


def test_a_projection_that_was_paused_while_its_event_failed_stays_paused(
    pay: Pay, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.shop.projections import Prices

    def pause() -> None:
        pause_projection(Projection.objects.get(name="prices"), actor="ada", reason="")
        connection.close()

    def policy(_: Projector, context: FailureContext) -> Decision:
        person = threading.Thread(target=pause)
        person.start()
        person.join()
        return Fatal()

    monkeypatch.setattr(Prices, "policy", policy)
    pay("a", 1, mark="x", how="ValueError")
    row = work("prices")
    assert (row.state, row.block, row.attempt) == ("paused", "fatal", 1)


@pytest.mark.parametrize("how", ["hang", "slow query"])
def test_a_handler_that_hangs_is_interrupted_and_counts_as_failed(
    pay: Pay, work: Work, applied: Positions, how: str
) -> None:
    pay("a", 1, mark="x", how=how)
    pay("b", 2)
    work("mailer")
    assert applied("mailer") == [2]
    letter = DeadLetter.objects.get()
    assert letter.error_type == "HandlerTimeoutError"


def test_overrides_are_honoured(pay: Pay, work: Work, applied: Positions) -> None:
    pay("a", 1, 2)
    events = {event.position: str(event.event_id) for event in read_all()}
    given = {"source": "native", "actor": "olga", "reason": "a test order"}
    set_override("journal", events[1], Override.Kind.SKIPPED, **given)
    set_override("journal", events[2], Override.Kind.REPLACED, payload={"amount": 20}, **given)
    work("journal")
    assert applied("journal") == [2]
    assert Applied.objects.get().data == {"amount": 20}
    assert (Skip.objects.get().actor, Skip.objects.get().reason) == ("olga", "a test order")


def test_what_waits_for_a_breaker_goes_on_while_another_holds_the_projection(
    pay: Pay, work: Work, clock: Any, applied: Positions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handle, "MOST_WAITING", 1)
    pay("a", 1, mark="x", how="breaker")
    pay("b", 2, mark="y", how="breaker")
    assert work("letters").block == "breaker"
    Fault.objects.filter(mark="x").delete()
    clock.sleep(20)
    WaitingEvent.objects.update(next_at=clock.now())
    row = work("letters")
    assert applied("letters") == [1]
    assert (row.position, row.block, WaitingEvent.objects.count()) == (1, "breaker", 0)
    clock.sleep(20)
    # Now there is room for the one that held it.
    row = work("letters")
    assert (row.position, row.block, WaitingEvent.objects.get().position) == (2, "", 2)


def test_a_batch_handler_that_fails_is_given_its_events_one_by_one(pay: Pay, work: Work) -> None:
    pay("a", 1, 2)
    pay("b", 3, mark="x", how="ValueError")
    pay("c", 4)
    work("quick-balances")
    assert dict(Balance.objects.values_list("account", "amount")) == {"a": 3, "c": 4}
    assert letters("quick-balances") == [(3, "failed")]


def read_all() -> Any:
    from projections.store import read

    return read(after=0, types=[], limit=1000)
