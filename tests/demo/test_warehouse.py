"""The second system: its writer keeps eventsource-py's tables as that library does."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.utils import timezone

from demo.warehouse import writer
from demo.warehouse.writer import Warehouse


def fetch(warehouse: Warehouse, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(warehouse.url) as other:
        return other.execute(statement).fetchall()


def test_it_has_a_past_with_checkpoints_and_failures_and_makes_it_once(warehouse: Warehouse) -> None:
    warehouse.make_past(timedelta(hours=2))
    [(count, first)] = fetch(warehouse, "SELECT count(*), min(timestamp) FROM events")
    assert count > 100
    assert first < timezone.now() - timedelta(minutes=115)
    places = dict(
        fetch(
            warehouse,
            "SELECT projection_name, (position_token::jsonb -> 'k' ->> 0)::int FROM projection_checkpoints",
        )
    )
    assert places["StockLevelProjection"] == count
    failures = fetch(
        warehouse, "SELECT error_stacktrace, retry_count, status, event_data FROM dead_letter_queue"
    )
    assert failures
    for trace, tries, status, data in failures:
        assert trace.startswith("Traceback")
        assert (tries, status) == (3, "failed")
        assert "sku" in data
    warehouse.make_past(timedelta(hours=2))
    assert fetch(warehouse, "SELECT count(*) FROM events") == [(count,)]


def test_what_is_asked_to_be_tried_again_is_and_succeeds_if_it_can(warehouse: Warehouse) -> None:
    warehouse.make_past(timedelta(minutes=1))
    for event_data in ('{"carrier": ""}', '{"carrier": "van"}'):
        warehouse.connection.execute(
            "INSERT INTO dead_letter_queue"
            " (event_id, projection_name, event_type, event_data, error_message, status, retry_count)"
            " VALUES (gen_random_uuid(), 'CarrierLabelProjection', 'PalletPicked', %s, 'once', 'retrying', 3)",
            [event_data],
        )
    warehouse.tick(timezone.now())
    found = fetch(
        warehouse,
        "SELECT status, retry_count, resolved_by FROM dead_letter_queue"
        " WHERE event_data ? 'carrier' AND NOT event_data ? 'sku' ORDER BY id",
    )
    assert found == [("failed", 4, None), ("resolved", 3, "warehouse worker")]


def test_it_keeps_no_more_than_it_said(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "KEEP_EVENTS", 20)
    monkeypatch.setattr(writer, "KEEP_LETTERS", 1)
    warehouse.make_past(timedelta(hours=2))
    for _ in range(2):
        warehouse.prune()
    assert fetch(warehouse, "SELECT count(*) FROM events") == [(20,)]
    [(failed,)] = fetch(warehouse, "SELECT count(*) FROM dead_letter_queue WHERE status = 'failed'")
    assert failed == 1
