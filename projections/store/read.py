"""Reading by position or by stream; a row becomes a light tuple, since a rebuild reads millions."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

COLUMNS = "position, event_id, stream, version, type, data, metadata, recorded_at"

# Positions have no gaps, so a batch is a range; of types that nobody asked for, only the fact is fetched.
READ = """
SELECT position, event_id, stream, version, type,
       CASE WHEN type = ANY(%(types)s) THEN data END, CASE WHEN type = ANY(%(types)s) THEN metadata END, recorded_at
FROM projections_event WHERE position > %(after)s ORDER BY position LIMIT %(limit)s
"""
READ_ONE = f"SELECT {COLUMNS} FROM projections_event WHERE position = %s"  # noqa: S608
READ_STREAM = f"""
SELECT {COLUMNS} FROM projections_event WHERE stream = %s AND version > %s ORDER BY version LIMIT %s
"""  # noqa: S608
FIND_NEXT = """
SELECT position FROM projections_event
WHERE position > %(after)s AND position <= %(after)s + %(within)s AND type = ANY(%(types)s) ORDER BY position LIMIT 1
"""
GET_TAIL = """
SELECT coalesce((SELECT min(position) - 1 FROM projections_event), (SELECT position FROM projections_head), 0)
"""
GET_HEAD = "SELECT coalesce(max(position), 0) FROM projections_head"


class StoredEvent(NamedTuple):
    """An event as handlers get it."""

    position: int
    event_id: UUID
    stream: str
    version: int
    type: str
    data: Any
    metadata: dict[str, Any]
    recorded_at: datetime


def read(*, after: int, types: Sequence[str], limit: int) -> list[StoredEvent]:
    """The events after a position; those of other types come without data, so that they can be counted as seen."""
    with connection.cursor() as cursor:
        cursor.execute(READ, {"after": after, "types": list(types), "limit": limit})
        return [decode(row) for row in cursor.fetchall()]


def read_stream(stream: str, *, after_version: int = 0, limit: int = 1000) -> list[StoredEvent]:
    with connection.cursor() as cursor:
        cursor.execute(READ_STREAM, [stream, after_version, limit])
        return [decode(row) for row in cursor.fetchall()]


def find_event(position: int) -> StoredEvent | None:
    """None: no event has this position."""
    with connection.cursor() as cursor:
        cursor.execute(READ_ONE, [position])
        row = cursor.fetchone()
    return decode(row) if row else None


def find_next(after: int, types: Sequence[str], within: int) -> int | None:
    """The position of the first event of these types among the next so many; None: there is none among them."""
    with connection.cursor() as cursor:
        cursor.execute(FIND_NEXT, {"after": after, "within": within, "types": list(types)})
        row = cursor.fetchone()
    return int(row[0]) if row else None


def get_head() -> int:
    """The last position; 0 in an empty store."""
    with connection.cursor() as cursor:
        cursor.execute(GET_HEAD)
        return int(cursor.fetchone()[0])


def get_tail() -> int:
    """The position before the first event that is kept; 0 unless the oldest were pruned."""
    with connection.cursor() as cursor:
        cursor.execute(GET_TAIL)
        return int(cursor.fetchone()[0])


def find_position(at: datetime) -> int:
    """The last position recorded at or before a time, by bisection: times rise with positions."""
    low, high = get_tail(), get_head()
    while low < high:
        middle = (low + high + 1) // 2
        event = find_event(middle)
        if event and event.recorded_at <= at:
            low = middle
        else:
            high = middle - 1
    return low


def decode(row: tuple[Any, ...]) -> StoredEvent:
    # Django hands jsonb over as text.
    position, event_id, stream, version, type_, data, metadata, recorded_at = row
    return StoredEvent(
        position,
        event_id,
        stream,
        version,
        type_,
        data and json.loads(data),
        {} if metadata in ("{}", None) else json.loads(metadata),
        recorded_at,
    )
