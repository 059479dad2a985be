"""Events that eventsource-py may have lost without a trace.

From 0.12 on, five failures in a row open a breaker around the handlers for 30 seconds. What comes to the projection in
that time is refused: it is not handled, no letter is written, and the checkpoint goes past it. No success is on record
either, so the tables name only those that may have met it: events after five letters in a row that were there
before the breaker closed again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboard.words import counted
from sources.checkpoints.contract import ForeignCheckpoint, NamedEvent, Unaccounted
from sources.connect import Cursor

FAILURES_THAT_OPEN = 5
OPEN_FOR = timedelta(seconds=30)
# So many events up to the checkpoint are looked at: some tens of milliseconds of their database, once a minute.
MOST_EVENTS = 5_000
MOST_NAMED = 20

# The latest events of all types, each probed for a letter through the unique index: a join might read all letters.
# The first two columns say how far that reached; besides letters there are events only if letters could prove anything.
LIST_EVENTS = """
WITH latest AS MATERIALIZED (
    SELECT e.*, (
        SELECT d.first_failed_at FROM dead_letter_queue d
        WHERE d.event_id = e.event_id AND d.projection_name = %(name)s
    ) AS failed_at
    FROM (
        SELECT global_position, event_id, event_type::text, aggregate_id, created_at FROM events
        WHERE global_position <= %(position)s ORDER BY global_position DESC LIMIT %(most)s
    ) AS e
), reach AS (
    SELECT count(*) AS number, min(created_at) AS since, count(failed_at) AS failures,
           array_agg(DISTINCT event_type) FILTER (WHERE failed_at IS NOT NULL) AS types
    FROM latest
)
SELECT reach.number, reach.since,
       e.global_position, e.event_id::text, e.event_type, e.aggregate_id::text, e.created_at, e.failed_at
FROM reach LEFT JOIN latest e
  ON e.failed_at IS NOT NULL
  OR (reach.failures >= %(failures)s AND e.event_type = ANY(coalesce(%(types)s::text[], reach.types)))
ORDER BY e.global_position
"""
NOWHERE = "Lost events cannot be looked for: where its checkpoint stands among the events is not known."
NO_SUCCESSES = "Whether each was processed cannot be known: eventsource-py keeps no record of successes."


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
    """`types` None: those of its letters count, since nobody said which it handles."""
    if checkpoint.position is None:
        return Unaccounted(None, NOWHERE)
    given = {"name": checkpoint.consumer, "position": checkpoint.position, "types": types}
    cursor.execute(LIST_EVENTS, given | {"most": MOST_EVENTS, "failures": FAILURES_THAT_OPEN})
    rows = cursor.fetchall()
    number, since = rows[0][:2]
    seen = [Event(*row[2:]) for row in rows if row[2] is not None]
    placed = {event.event_id: event.position for event in seen if event.failed_at}
    events = [event for event in seen if types is None or event.event_type in types]
    # None: they were all looked at.
    since = since if number >= MOST_EVENTS else None
    where = f"In the last {MOST_EVENTS:,} events nothing" if since else "Nothing"
    lost = list_suspects(events)
    if not lost:
        return Unaccounted(
            0, f"{where} shows that an event was lost. {NO_SUCCESSES}", placed=placed, since=since
        )
    return Unaccounted(
        len(lost),
        f"{counted(len(lost), 'event')} came after five failures in a row and left no letter. Since 0.12 "
        "eventsource-py refuses events for 30 s then, without a trace; older versions handle them. See whether the "
        "effect is there.",
        [
            NamedEvent(event.event_id, event.event_type, event.stream, str(event.position))
            for event in lost[:MOST_NAMED]
        ],
        placed=placed,
        since=since,
        begins_at=find_first_failure(events, lost[0]).created_at,
        newest_at=lost[-1].created_at,
    )


def find_first_failure(events: list[Event], suspect: Event) -> Event:
    """Of those in a row that make an event suspect."""
    index = events.index(suspect)
    while index and events[index - 1].failed_at:
        index -= 1
    return events[index]


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
