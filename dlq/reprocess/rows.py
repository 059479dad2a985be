"""The items of a slice together with their events, and the letters that those may have."""

from typing import NamedTuple

from django.db import connection

from dlq.replay.rows import Row
from projections.api import NATIVE, StoredEvent, read_at

LIST_ITEMS = "SELECT id, deaths, position FROM dlq_letterrunitem WHERE id = ANY(%s) ORDER BY id"

# By id, the order in which everybody locks letters.
LOCK_LETTERS = """
SELECT event_id, id, status, group_id FROM dlq_deadletter
WHERE event_id = ANY(%s) AND consumer = %s AND source = %s
ORDER BY id FOR UPDATE
"""
# Behind every letter of its place: its own, where it is open, stands before it too.
LAST = 2**63 - 1


class Letter(NamedTuple):
    """What an event's letter says; one that has none never failed."""

    id: int | None = None
    status: str = ""
    group_id: int | None = None


class EventRows:
    """What a slice is to try: rows as a replay has them, in order, with their events and letters."""

    def __init__(self, item_ids: list[int], consumer: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(LIST_ITEMS, [item_ids])
            items = cursor.fetchall()
        stored = read_at(position for *_, position in items)
        ids = [str(event.event_id) for event in stored.values()]
        with connection.cursor() as cursor:
            cursor.execute(LOCK_LETTERS, [ids, consumer, NATIVE])
            self.letters = {event_id: Letter(*found) for event_id, *found in cursor.fetchall()}
        self.events: dict[int, StoredEvent] = {}
        self.rows: list[Row] = []
        # Of events that were pruned since they were chosen.
        self.gone: list[Row] = []
        for item_id, deaths, position in items:
            event = stored.get(position)
            if event is None:
                self.gone.append(make_gone(item_id, deaths, consumer, position))
                continue
            self.events[item_id] = event
            letter = self.letters.get(str(event.event_id), Letter())
            self.rows.append(
                Row(
                    item_id=item_id,
                    deaths=deaths,
                    letter_id=LAST,
                    source=NATIVE,
                    consumer=consumer,
                    event_id=str(event.event_id),
                    event_type=event.type,
                    sequence_key=event.stream,
                    sequence_no=event.version,
                    position=event.position,
                    status=letter.status,
                    group_id=letter.group_id,
                    is_erased=False,
                    is_closed_at_source=False,
                )
            )


def make_gone(item_id: int, deaths: int, consumer: str, position: int) -> Row:
    """All that is still known of it."""
    known = (item_id, deaths, LAST, NATIVE, consumer, "", "", "", 0, position, "", None)
    return Row(*known, is_erased=False, is_closed_at_source=False)
