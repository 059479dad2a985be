"""What a lane looks at to find its next item, however much is on its way."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from django.db import connection

from dashboard.models import Run
from dlq.api import Failure, record_failures
from dlq.models import LetterRunItem
from dlq.replay import queue
from dlq.replay.options import ReplayOptions

SEQUENCES = 300


def list_nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from list_nodes(part)


def count_looked_at(statement: str, values: dict[str, Any]) -> float:
    """Rows that any part of the statement gave, or compared and threw away."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values)
        found = cursor.fetchone()[0]
    [told] = found if isinstance(found, list) else json.loads(found)
    counts = ("Actual Rows", "Rows Removed by Join Filter", "Rows Removed by Filter")
    return sum(
        node["Actual Loops"] * node.get(name, 0) for node in list_nodes(told["Plan"]) for name in counts
    )


def test_the_next_to_send_is_found_without_comparing_it_with_all_that_are_on_their_way(
    start: Callable[..., Run], settings: Any, patient_lanes: None
) -> None:
    known = {"broker_url": settings.CELERY_BROKER_URL, "callback_url": "https://redrive.example"}
    target = {"kind": "celery", "task": "shop.handle", **known}
    settings.TARGETS, settings.CONSUMERS = {"theirs": target}, {"kafka/billing": {"target": "theirs"}}
    place = {"consumer": "billing", "source": "kafka", "error_type": "ValueError", "payload": {}}
    record_failures(
        Failure(**place, event_id=f"{key}-{number}", sequence_key=str(key), sequence_no=number)
        for key in range(SEQUENCES)
        for number in (1, 2)
    )
    run = start(options=ReplayOptions(canary=False, lanes=1))
    LetterRunItem.objects.filter(letter__sequence_no=1).update(outcome="sent")
    assert queue.list_next(run, 0, rung=4, limit=1) == []
    values = {"run": run.pk, "lane": 0, "rung": 4, "limit": 1}
    assert count_looked_at(queue.LIST_NEXT_CONFIRMED, values) < 20 * SEQUENCES
    LetterRunItem.objects.filter(letter__event_id="7-1").update(outcome="succeeded", is_active=False)
    [following] = queue.list_next(run, 0, rung=4, limit=1)
    assert following.sequence_key == "7"
