"""A real application's dead letters: as they failed, resolved there from here, and replayed through its own code."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from dashboard.models import Run
from dlq.models import DeadLetter, LetterBody
from dlq.operations import handle_letters, start_replay
from dlq.queries.replay import preview_replay
from dlq.replay.options import ReplayOptions
from dlq.selection import select_ids
from dlq.verbs import VERBS
from sources.models import SourceState
from tests.dlq.conftest import someone
from tests.dlq.replay.conftest import run_all, totals
from tests.sources.eventsource_py.application import Orders

__all__ = ["someone"]

Sync = Callable[..., SourceState]


@pytest.fixture
def fail(orders: Orders, sync: Sync) -> Callable[..., DeadLetter]:
    """An order that one of its projections cannot handle; gives its letter here."""

    def fail(**order: Any) -> DeadLetter:
        with orders.working():
            key = orders.order(**order)
            orders.wait_until_idle()
        assert not sync().error
        return DeadLetter.objects.get(source="orders", sequence_key=key)

    return fail


@pytest.fixture
def replay(someone: User) -> Callable[[DeadLetter], Run]:
    def replay(letter: DeadLetter) -> Run:
        selection = select_ids([letter.pk])
        options = ReplayOptions(canary=False, stop_after=None)
        given = {"actor": someone, "request_key": uuid4(), "reason": "tests"}
        run = start_replay(
            selection, options=options, confirmed=preview_replay(selection).count, acknowledged=True, **given
        )
        return run_all(run)

    return replay


def find_row(orders: Orders, letter: DeadLetter) -> dict[str, Any]:
    [row] = orders.query("SELECT * FROM dead_letter_queue WHERE id = %s", int(letter.source_key))
    return row


@pytest.mark.parametrize(
    ("order", "consumer", "event_type", "error_type", "message"),
    [
        (
            {"total": -5},
            "OrderSummaryProjection",
            "OrderPlaced",
            "ValueError",
            "negative total -5.0 for order ",
        ),
        # The message alone would say nothing.
        ({"currency": "XXX"}, "OrderSummaryProjection", "OrderPaid", "KeyError", "'XXX'"),
        # Two lines, and a KeyError as its cause.
        (
            {"carrier": "nobody"},
            "LedgerProjection",
            "OrderShipped",
            "CarrierError",
            "carrier nobody is unknown\n",
        ),
    ],
)
def test_a_letter_is_what_failed(
    orders: Orders,
    fail: Callable[..., DeadLetter],
    order: dict[str, Any],
    consumer: str,
    event_type: str,
    error_type: str,
    message: str,
) -> None:
    letter = fail(**order)
    row = find_row(orders, letter)
    assert (letter.consumer, letter.event_type, letter.error_type) == (consumer, event_type, error_type)
    assert (letter.status, letter.attempts, letter.last_failed_at) == ("failed", 3, row["last_failed_at"])
    body = LetterBody.objects.get(letter=letter)
    assert body.error_message.startswith(message)
    assert body.payload == row["event_data"]
    assert letter.event_id == str(row["event_id"])


def test_resolving_here_resolves_there_and_a_new_failure_opens_both(
    orders: Orders, fail: Callable[..., DeadLetter], sync: Sync, someone: User
) -> None:
    letter = fail(total=-6)
    handle_letters(
        VERBS["resolve"],
        select_ids([letter.pk]),
        confirmed=1,
        actor=someone,
        request_key=uuid4(),
        reason="refunded by hand",
    )
    sync()
    letter.refresh_from_db()
    row = find_row(orders, letter)
    assert (row["status"], row["resolved_by"], row["resolved_at"]) == (
        "resolved",
        "someone",
        letter.closed_at,
    )
    assert orders.replay(letter.consumer, row["event_data"]) == 500
    row = find_row(orders, letter)
    assert (row["status"], row["resolved_by"]) == ("failed", "someone")
    sync()
    letter.refresh_from_db()
    assert (letter.status, letter.closed_by) == ("failed", "")
    assert letter.last_failed_at == row["last_failed_at"]


def test_a_replay_through_its_own_code_closes_both_sides(
    orders: Orders, fail: Callable[..., DeadLetter], replay: Callable[[DeadLetter], Run], sync: Sync
) -> None:
    letter = fail(currency="CHF")
    checkpoints = orders.query("SELECT * FROM projection_checkpoints ORDER BY projection_name")
    assert totals(replay(letter)) == {"new_error": 1}
    sync()
    letter.refresh_from_db()
    assert letter.status == find_row(orders, letter)["status"] == "failed"
    # What was wrong is mended at the application.
    orders.query("INSERT INTO rates VALUES ('CHF', 0.9) ON CONFLICT DO NOTHING")
    assert totals(replay(letter)) == {"succeeded": 1}
    sync()
    letter.refresh_from_db()
    row = find_row(orders, letter)
    assert (letter.status, letter.resolution) == ("resolved", "replayed")
    assert (row["status"], row["resolved_by"], row["resolved_at"]) == (
        "resolved",
        "someone",
        letter.closed_at,
    )
    [order] = orders.query("SELECT paid FROM order_summary WHERE id = %s", letter.sequence_key)
    assert order["paid"]
    # Handling an old event again moves no checkpoint backwards: that is up to the application's endpoint.
    assert checkpoints == orders.query("SELECT * FROM projection_checkpoints ORDER BY projection_name")
    sync()
    letter.refresh_from_db()
    assert letter.status == "resolved"
