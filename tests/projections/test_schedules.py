"""The waits that a failing handler really meets are those of each document's table."""

from itertools import pairwise
from typing import Any

import pytest

from dlq.models import DeadLetter
from projections.decisions import Retry
from projections.declared import make_row
from projections.definition import Projector, handles
from projections.models import Projection
from projections.policies import Policy
from projections.presets import (
    ESCROW,
    ESCROW_CUSTODIAN,
    ESCROW_DATABASE,
    ESCROW_STRIPE,
    ESCROW_WEBHOOK,
    EVENTSOURCE_DIAGRAM,
    EVENTSOURCE_TEXT,
    FATAL,
    HYBRID,
    NO_RETRY,
    QUEUE_KEEPER,
    eventcore,
    filtered,
)
from projections.runtime.hand import LIVE
from projections.runtime.turn import take_turn
from projections.store import NewEvent, StoredEvent, append

TRANSIENT, PERMANENT = TimeoutError("no answer"), ValueError("not possible")
EVENTCORE = eventcore(4, base_seconds=0.5, multiplier=3.0, timeout_seconds=10.0)
FILTERED = filtered(Retry((0.5, 0.5)), TimeoutError)


def observe(policy: Policy, error: Exception, clock: Any) -> tuple[list[float], Projection]:
    """The waits between the tries of an event that always fails, to the microsecond."""
    tried_at = []

    class Failing(Projector):
        name = "failing"

        @handles("Paid")
        def fail(self, event: StoredEvent) -> None:
            tried_at.append(clock.now())
            raise error

    Failing.policy = policy
    projector = Failing()
    row = make_row(projector)
    row.save()
    append("order-1", [NewEvent("Paid", {})])
    while row.position == 0 and row.state == Projection.State.RUNNING:
        clock.sleep(take_turn(projector, LIVE, clock))
        row.refresh_from_db()
    return [(later - earlier).total_seconds() for earlier, later in pairwise(tried_at)], row


@pytest.mark.parametrize(
    ("policy", "error", "waits"),
    [
        pytest.param(HYBRID, TRANSIENT, [0, 1, 2], id="hybrid"),
        pytest.param(ESCROW, TRANSIENT, [0.1, 0.2, 0.4, 0.8, 1.6], id="escrow"),
        pytest.param(ESCROW_WEBHOOK, TRANSIENT, [0.1, 0.2, 0.4, 0.8, 1.6], id="escrow-webhook"),
        pytest.param(ESCROW_STRIPE, TRANSIENT, [0.2, 0.4, 0.8], id="escrow-stripe"),
        pytest.param(ESCROW_CUSTODIAN, TRANSIENT, [0.2, 0.4, 0.8], id="escrow-custodian"),
        pytest.param(ESCROW_DATABASE, TRANSIENT, [0.05, 0.1, 0.2], id="escrow-database"),
        pytest.param(ESCROW, PERMANENT, [], id="escrow-permanent"),
        pytest.param(EVENTSOURCE_DIAGRAM, PERMANENT, [1, 2], id="eventsource-diagram"),
        pytest.param(EVENTSOURCE_TEXT, PERMANENT, [2, 4, 8], id="eventsource-text"),
        pytest.param(QUEUE_KEEPER, PERMANENT, [], id="queue-keeper-permanent"),
        pytest.param(NO_RETRY, TRANSIENT, [], id="no-retry"),
        pytest.param(FILTERED, PERMANENT, [], id="filtered-out"),
    ],
)
def test_the_waits_are_those_of_the_document_and_a_letter_follows(
    policy: Policy, error: Exception, waits: list[float], clock: Any
) -> None:
    observed, row = observe(policy, error, clock)
    assert observed == pytest.approx(waits, abs=1e-5)
    assert (row.state, row.position) == ("running", 1)
    letter = DeadLetter.objects.get()
    assert (letter.consumer, letter.status, letter.attempts) == ("failing", "failed", len(waits) + 1)


@pytest.mark.parametrize(
    ("policy", "waits"),
    [
        pytest.param(EVENTCORE, [0.5, 1.5, 4.5, 13.5], id="eventcore"),
        pytest.param(FILTERED, [0.5, 0.5], id="filtered"),
        pytest.param(FATAL, [], id="fatal"),
    ],
)
def test_retries_that_are_used_up_stop_the_projection_unless_the_policy_says_letter(
    policy: Policy, waits: list[float], clock: Any
) -> None:
    observed, row = observe(policy, TRANSIENT, clock)
    assert observed == pytest.approx(waits, abs=1e-5)
    assert (row.state, row.block, row.position, row.attempt) == ("stopped", "fatal", 0, len(waits) + 1)
    assert not DeadLetter.objects.exists()


def test_queue_keeper_stays_within_a_quarter_of_its_table_and_under_four_seconds(clock: Any) -> None:
    observed, _ = observe(QUEUE_KEEPER, TRANSIENT, clock)
    table = [(0.075, 0.125), (0.15, 0.25), (0.3, 0.5), (0.6, 1.0), (1.2, 2.0)]
    assert len(observed) == len(table)
    for wait, (least, most) in zip(observed, table, strict=True):
        assert least - 1e-5 <= wait <= most + 1e-5
    assert sum(observed) < 4


def test_jitter_uses_its_whole_range_and_the_cap_holds() -> None:
    retry = Retry.exponential(8, base_seconds=0.1, cap_seconds=16.0, jitter=0.25)
    waits = [retry.find_wait(1, lambda: 0.0), retry.find_wait(1, lambda: 1.0)]
    assert waits == pytest.approx([0.075, 0.125])
    capped = Retry.exponential(10, base_seconds=0.1, cap_seconds=30.0)
    assert capped.find_wait(10, lambda: 0.5) == 30.0
    assert capped.find_wait(11) is None
    assert EVENTCORE.timeout_seconds == 10.0
