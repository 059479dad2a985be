"""Postgres goes away while the shop writes: what has begun goes on, and no order is told twice."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import Error, OperationalError, connection, transaction
from django.utils import timezone

from demo.pricing import get_shop
from demo.simulator import Simulator
from demo.sink import Sink
from projections.models import Event
from tests.processes import this_database_url


def end_session(*_: Any) -> None:
    """As a server that restarts: what this session has not committed is undone."""
    with psycopg.connect(this_database_url(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])


def lose_answer(*_: Any) -> None:
    """It is committed, and the word of that is lost."""

    def lose() -> None:
        raise OperationalError("the connection is lost")

    transaction.on_commit(lose)


def strike(happen: Callable[[], None]) -> Callable[..., Any]:
    """An outage at the last statement of what the shop writes."""

    def wrap(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith('UPDATE "demo_shop"'):
            happen()
        return execute(sql, *rest)

    return wrap


@pytest.mark.parametrize("happen", [end_session, lose_answer])
def test_orders_go_on_after_an_outage_in_the_middle(sink: Sink, happen: Callable[[], None]) -> None:
    at = timezone.now()
    simulator = Simulator(at)
    for number in range(60):
        get_shop.forget()
        at += timedelta(seconds=20)
        if number % 3 != 1:
            simulator.advance(at)
            continue
        with connection.execute_wrapper(strike(happen)), pytest.raises(Error):
            simulator.advance(at)
        connection.close()
    # What has begun comes to its end.
    simulator.is_closed = True
    simulator.advance(at + timedelta(minutes=10))
    told: dict[str, Counter[str]] = {}
    for stream, event_type in Event.objects.filter(stream__startswith="order-").values_list("stream", "type"):
        told.setdefault(stream, Counter())[event_type] += 1
    assert len(told) > 20
    for counts in told.values():
        assert set(counts.values()) == {1}
        assert {"OrderPlaced", "PaymentCaptured", "EscrowFunded"} < set(counts)
        assert counts["EscrowReleased"] + counts["PaymentRefunded"] == 1
