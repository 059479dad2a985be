"""What a sync asks of the letters: how they stand, and to follow what their source says."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.db.models import Exists, OuterRef

from dlq.models import DeadLetter, LetterRunItem
from dlq.models.words import CLOSED, UNSETTLED, Status
from dlq.verbs import REOPEN_GROUPS

# Letters that their source has done with close here too; locked by id, as by all.
CLOSE = """
UPDATE dlq_deadletter l SET
    status = f.status, resolution = 'at_source', closed_by = f.closed_by, closed_at = now(), close_reason = f.reason
FROM (
    SELECT l.id, f.status, f.closed_by, f.reason
    FROM dlq_deadletter l
    JOIN unnest(%s::bigint[], %s::text[], %s::text[], %s::text[]) AS f(id, status, closed_by, reason) USING (id)
    WHERE l.status IN ('failed', 'parked')
    ORDER BY l.id FOR UPDATE OF l
) AS f
WHERE l.id = f.id
"""

# Letters that came without their event's position; one that is busy is placed by a later look.
PLACE = """
UPDATE dlq_deadletter l SET position = f.position
FROM (
    SELECT l.id, f.position
    FROM unnest(%s::text[], %s::bigint[]) AS f(event_id, position)
    JOIN dlq_deadletter l ON l.source = %s AND l.consumer = %s AND l.event_id = f.event_id
    WHERE l.position IS NULL
    FOR UPDATE OF l SKIP LOCKED
) AS f
WHERE l.id = f.id
"""


class Standing(NamedTuple):
    """How a letter stands."""

    letter_id: int
    status: str
    closed_by: str
    closed_at: datetime | None

    @property
    def is_open(self) -> bool:
        return self.status in UNSETTLED


class Closing(NamedTuple):
    """A letter that its source has done with."""

    letter_id: int
    is_discarded: bool
    closed_by: str
    reason: str


def find_letters(ids: Iterable[int], *, lock: bool = False) -> dict[int, Standing]:
    """How the letters stand, until the transaction is over if they are locked; one that was purged is missing."""
    letters = DeadLetter.objects.with_ids(list(ids))
    if lock:
        letters = letters.select_for_update().order_by("pk")
    rows = letters.values_list("pk", "status", "closed_by", "closed_at")
    return {row[0]: Standing(*row) for row in rows}


def is_awaited(letter_id: str) -> Exists:
    """Whether a replay has sent the letter that this column names, and waits to hear what became of it."""
    return Exists(LetterRunItem.objects.filter(letter_id=OuterRef(letter_id), is_active=True, outcome="sent"))


def close_at_source(closings: list[Closing]) -> int:
    """Close letters as resolved at their source; those that are closed already stay as they are."""
    columns = (
        [closing.letter_id for closing in closings],
        [Status.DISCARDED.value if closing.is_discarded else Status.RESOLVED.value for closing in closings],
        [closing.closed_by for closing in closings],
        [closing.reason for closing in closings],
    )
    with connection.cursor() as cursor:
        cursor.execute(CLOSE, columns)
        return int(cursor.rowcount)


def place_letters(source: str, consumer: str, positions: dict[str, int]) -> None:
    """Say where the events of letters stand, by event id; a letter that knows its position keeps it."""
    if positions:
        with connection.cursor() as cursor:
            cursor.execute(PLACE, [list(positions), list(positions.values()), source, consumer])


def reopen_letters(ids: Iterable[int]) -> None:
    """Open letters again whose rows are open at their source; those that are open stay as they are."""
    closed = DeadLetter.objects.with_ids(list(ids)).filter(status__in=CLOSED)
    these = list(closed.select_for_update().order_by("pk").values_list("pk", flat=True))
    if these:
        DeadLetter.objects.with_ids(these).update(
            status=Status.FAILED, resolution="", closed_by="", closed_at=None, close_reason=""
        )
        with connection.cursor() as cursor:
            cursor.execute(REOPEN_GROUPS, {"ids": these})
