"""Events that eventsource-py may have lost without a trace.

From 0.12 on, five failures in a row open a breaker around the handlers for 30 seconds. What comes to the projection in
that time is refused: it is not handled, no letter is written, and the checkpoint goes past it. No success is on record
either, so the tables name only those that may have met it: events after five letters in a row that were there
before the breaker closed again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sources.base import ForeignCheckpoint, NamedEvent, Unaccounted
from sources.connect import Cursor

FAILURES_THAT_OPEN = 5
OPEN_FOR = timedelta(seconds=30)
# The newest letters of a projection are looked at, and so many events from the first of them on.
MOST_LETTERS = 200
MOST_EVENTS = 5000
MOST_NAMED = 20

LIST_EVENTS = """
WITH newest AS (
    SELECT event_id, event_type FROM dead_letter_queue
    WHERE projection_name = %(name)s ORDER BY first_failed_at DESC LIMIT %(letters)s
), span AS (
    SELECT min(e.global_position) AS first, array_agg(DISTINCT newest.event_type::text) AS types
    FROM newest JOIN events e USING (event_id)
)
SELECT e.global_position, e.event_id::text, e.event_type, e.aggregate_id::text, e.created_at, d.first_failed_at
FROM span
JOIN events e ON e.global_position >= span.first AND e.global_position <= %(position)s
LEFT JOIN dead_letter_queue d ON d.event_id = e.event_id AND d.projection_name = %(name)s
WHERE e.event_type = ANY(coalesce(%(types)s::text[], span.types))
ORDER BY e.global_position LIMIT %(events)s
"""
NONE = (
    "Nothing shows that an event was lost. Whether each was processed cannot be known: "
    "eventsource-py keeps no record of successes."
)


@dataclass(frozen=True)
class Event:
    """An event up to the checkpoint; `failed_at` is None if it has no letter."""

    position: int
    event_id: str
    event_type: str
    stream: str
    created_at: datetime
    failed_at: datetime | None


def find_losses(cursor: Cursor, checkpoint: ForeignCheckpoint, types: list[str] | None) -> Unaccounted:
    given = {"name": checkpoint.consumer, "position": checkpoint.position or 0, "types": types}
    cursor.execute(LIST_EVENTS, given | {"letters": MOST_LETTERS, "events": MOST_EVENTS})
    lost = list_suspects(Event(*row) for row in cursor.fetchall())
    if not lost:
        return Unaccounted(0, NONE)
    them = "1 event" if len(lost) == 1 else f"{len(lost):,} events"
    return Unaccounted(
        len(lost),
        f"{them} came after five failures in a row and left no letter. Since 0.12 eventsource-py refuses events "
        "for 30 s then, without a trace; older versions handle them. Look whether their effect is there.",
        [
            NamedEvent(event.event_id, event.event_type, event.stream, str(event.position))
            for event in lost[:MOST_NAMED]
        ],
        lost[-1].created_at,
    )


def list_suspects(events: Iterable[Event]) -> list[Event]:
    """In order of position; a letter while the breaker is open is a failed probe, which opens it anew."""
    suspects: list[Event] = []
    in_a_row, open_until = 0, None
    for event in events:
        if event.failed_at:
            in_a_row += 1
            if in_a_row >= FAILURES_THAT_OPEN:
                open_until = event.failed_at + OPEN_FOR
        elif open_until and event.created_at <= open_until:
            suspects.append(event)
        else:
            in_a_row, open_until = 0, None
    return suspects
