"""What a consumer asks of the letters before it handles events: which sequences are blocked, and by what."""

from collections.abc import Iterable
from typing import NamedTuple

from django.db import connection
from django.db.models import Min
from django.db.models.functions import Now

from dlq.models import DeadLetter
from dlq.models.words import CLOSED, Resolution, Status

# The letters that hold sequences up; probed by sequence, so it costs what the batch has, not what the queue has.
LIST_BLOCKING = """
SELECT event_id, sequence_key, position FROM dlq_deadletter
WHERE sequence_key = ANY(%s) AND sequence_key <> '' AND consumer = %s AND source = %s
    AND status IN ('failed', 'parked')
"""

# Letters that are open or parked, from the counters and what was added since.
COUNT_OPEN = """
SELECT consumer, status, sum(number) FROM dlq_counted
WHERE source = %(source)s AND consumer = ANY(%(consumers)s) AND status IN ('failed', 'parked')
GROUP BY consumer, status
"""

COUNT_BY_SOURCE = "SELECT source, sum(number) FROM dlq_counted WHERE status = 'failed' GROUP BY source"


class BlockingLetter(NamedTuple):
    """A letter that is open or parked, as its consumer needs to know it."""

    event_id: str
    sequence_key: str
    position: int | None


def list_blocking(consumer: str, sequences: Iterable[str], *, source: str) -> list[BlockingLetter]:
    with connection.cursor() as cursor:
        cursor.execute(LIST_BLOCKING, [list(sequences), consumer, source])
        return [BlockingLetter(*row) for row in cursor.fetchall()]


def lock_letters(consumer: str, event_ids: Iterable[str], *, source: str) -> None:
    """Lock the letters of these events, by id as everybody does, before they are changed one kind after another."""
    letters = DeadLetter.objects.filter(consumer=consumer, source=source, event_id__in=list(event_ids))
    list(letters.select_for_update().order_by("pk").values_list("pk"))


def close_rebuilt(consumer: str, event_ids: Iterable[str], *, source: str, closed_by: str) -> int:
    """Close letters whose events a rebuild, or a consumer that was set back, has now processed."""
    letters = DeadLetter.objects.filter(consumer=consumer, source=source, event_id__in=list(event_ids))
    return letters.exclude(status__in=CLOSED).update(
        status=Status.RESOLVED, resolution=Resolution.REBUILT, closed_by=closed_by, closed_at=Now()
    )


def park_again(consumer: str, event_ids: Iterable[str], *, source: str) -> int:
    """Park closed letters whose events wait again, because an earlier one of their sequence failed in a rebuild."""
    letters = DeadLetter.objects.filter(consumer=consumer, source=source, event_id__in=list(event_ids))
    return letters.filter(status__in=CLOSED).update(
        status=Status.PARKED, resolution="", closed_by="", close_reason="", closed_at=None
    )


def count_open(consumers: Iterable[str], *, source: str) -> dict[str, dict[str, int]]:
    """Open and parked letters by consumer and status; a consumer that has none is not in it."""
    counts: dict[str, dict[str, int]] = {}
    with connection.cursor() as cursor:
        cursor.execute(COUNT_OPEN, {"source": source, "consumers": list(consumers)})
        for consumer, status, number in cursor.fetchall():
            if number:
                counts.setdefault(consumer, {})[status] = int(number)
    return counts


def count_by_source() -> dict[str, int]:
    """Open letters by source, from the counters; a source that has none may be missing."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT_BY_SOURCE)
        return {source: int(number) for source, number in cursor.fetchall()}


def find_first_open_position(consumer: str, *, source: str) -> int | None:
    """The lowest position of an event whose letter is open or parked; None: there is none."""
    letters = DeadLetter.objects.filter(consumer=consumer, source=source).exclude(status__in=CLOSED)
    first: int | None = letters.aggregate(first=Min("position"))["first"]
    return first


def find_statuses(consumer: str, event_ids: Iterable[str], *, source: str) -> dict[str, str]:
    """The status of each event's letter; an event that has none is not in it."""
    letters = DeadLetter.objects.filter(consumer=consumer, source=source, event_id__in=list(event_ids))
    return dict(letters.values_list("event_id", "status"))
