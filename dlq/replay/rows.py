"""The items of a slice together with their letters, locked."""

from typing import Any, NamedTuple

from django.db import connection

Sequence = tuple[str, str, str]
Place = tuple[int, int]

READ_ROWS = """
SELECT i.id, i.deaths, l.id, l.source, l.consumer, l.event_id, l.event_type, l.sequence_key, l.sequence_no,
       l.position, l.status, l.group_id, l.erased_at IS NOT NULL, l.resolution = 'at_source'
FROM dlq_letterrunitem i JOIN dlq_deadletter l ON l.id = i.letter_id
WHERE i.id = ANY(%s)
"""
# By id, the order in which everybody locks letters.
LOCK_ROWS = f"{READ_ROWS}ORDER BY l.id FOR UPDATE OF l"

# For each sequence, the first letter that is not settled and not among those in hand.
FIND_AHEAD = """
SELECT given.key, ahead.sequence_no, ahead.id
FROM unnest(%(keys)s::text[]) AS given(key)
CROSS JOIN LATERAL (
    SELECT sequence_no, id FROM dlq_deadletter
    WHERE sequence_key = given.key AND sequence_key <> '' AND consumer = %(consumer)s AND source = %(source)s
        AND status IN ('failed', 'parked') AND id <> ALL(%(ids)s)
    ORDER BY sequence_no, id LIMIT 1
) AS ahead
"""


class Row(NamedTuple):
    """An item with what its letter says."""

    item_id: int
    deaths: int
    letter_id: int
    source: str
    consumer: str
    event_id: str
    event_type: str
    sequence_key: str
    sequence_no: int
    position: int | None
    status: str
    group_id: int | None
    is_erased: bool
    is_closed_at_source: bool

    @property
    def sequence(self) -> Sequence:
        return self.source, self.consumer, self.sequence_key

    @property
    def place(self) -> Place:
        return self.sequence_no, self.letter_id


def lock_rows(item_ids: list[int]) -> list[Row]:
    """The items in the order in which they are to be played."""
    return fetch_rows(LOCK_ROWS, item_ids)


def read_rows(item_ids: list[int]) -> list[Row]:
    """The same, not locked: their letters may change."""
    return fetch_rows(READ_ROWS, item_ids)


def fetch_rows(statement: str, item_ids: list[int]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(statement, [item_ids])
        return sorted(Row(*row) for row in cursor.fetchall())


class Ahead:
    """The first unsettled letter of each sequence; what stands behind it may not be played."""

    def __init__(self, rows: list[Row]) -> None:
        """Of letters that are not in hand; the rows are of one consumer, and its lock is held."""
        self.places: dict[str, Place] = {}
        keys = {row.sequence_key for row in rows if row.sequence_key}
        if not keys:
            return
        values: dict[str, Any] = {
            "keys": sorted(keys),
            "consumer": rows[0].consumer,
            "source": rows[0].source,
            "ids": [row.letter_id for row in rows],
        }
        with connection.cursor() as cursor:
            cursor.execute(FIND_AHEAD, values)
            self.places = {key: (sequence_no, letter_id) for key, sequence_no, letter_id in cursor.fetchall()}

    def add(self, row: Row) -> None:
        """This one stays unsettled. A letter without a sequence is ahead of none."""
        if row.sequence_key:
            self.places[row.sequence_key] = min(row.place, self.places.get(row.sequence_key, row.place))

    def find(self, row: Row) -> int | None:
        """The letter that must be settled before this one; None: it may be played."""
        place = self.places.get(row.sequence_key)
        return place[1] if place and place < row.place else None
