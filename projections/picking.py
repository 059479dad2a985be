"""Events that a projection has gone past, picked by type, stream and time, so that they can be handled once more."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from projections.lag import count_seen
from projections.models import NATIVE, Projection
from projections.store import StoredEvent, find_position

# More than this is a rebuild's work; and a count of so many still fits into a page's time.
MOST_PICKED = 1_000_000

# What the projection itself has not handled yet, though it went past: a skip, or an event that waits for a breaker
# (then all of its stream behind it waits too).
STANDING = """
CASE WHEN EXISTS (SELECT FROM projections_skip s
                  WHERE s.projection_id = p.id AND s.position = e.position) THEN 'skipped'
     WHEN EXISTS (SELECT FROM projections_waitingevent w
                  WHERE w.projection_id = p.id AND w.stream = e.stream AND w.position <= e.position) THEN 'waiting'
     ELSE '' END
"""

PICK = f"""
SELECT e.position, e.event_id::text AS event_id, e.stream, e.version, e.type, {STANDING} AS standing
FROM projections_event e JOIN projections_projection p ON p.source = 'native' AND p.name = %s
WHERE e.position > %s AND e.position <= least(%s, p.position) AND e.type = ANY(%s) AND (%s = '' OR e.stream = %s)
"""  # noqa: S608

FIND_STANDINGS = f"""
SELECT e.position, {STANDING}
FROM projections_event e JOIN projections_projection p ON p.source = 'native' AND p.name = %s
WHERE e.position = ANY(%s)
"""  # noqa: S608

COUNT_STREAM = """
SELECT count(*) FROM (SELECT FROM projections_event WHERE stream = %(stream)s LIMIT %(most)s) AS found
"""


class PickError(Exception):
    """These events cannot be picked; the sentence says why."""


@dataclass(frozen=True)
class Pick:
    """Events of some types after one position and up to another, of one stream or (empty) of all."""

    projection: str
    types: tuple[str, ...]
    stream: str
    after: int
    until: int

    @property
    def sql(self) -> str:
        """A query of position, event_id, stream, version, type and standing; see `values` for its parameters."""
        return PICK

    @property
    def values(self) -> list[Any]:
        return [self.projection, self.after, self.until, list(self.types), self.stream, self.stream]


def pick_events(
    projection: str,
    *,
    types: Iterable[str] = (),
    stream: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
    watermark: int | None = None,
) -> Pick:
    """What these words mean now; with a watermark, no event after that position. No types: all that it handles."""
    row = Projection.objects.filter(source=NATIVE, name=projection).first()
    if row is None:
        raise PickError(
            f"There is no projection {projection!r} here; only their events can be handled again."
        )
    wanted = tuple(sorted(set(types) or set(row.event_types)))
    unknown = sorted(set(wanted) - set(row.event_types))
    if unknown:
        raise PickError(
            f"{projection} does not handle {', '.join(unknown)}, only {', '.join(row.event_types)}."
        )
    if since and until and since > until:
        raise PickError("The time range ends before it begins.")
    end = min(row.position, row.position if watermark is None else watermark)
    pick = Pick(
        projection,
        wanted,
        stream,
        # Events of that very moment are meant too.
        after=find_position(since - timedelta(microseconds=1)) if since else 0,
        until=min(end, find_position(until)) if until else end,
    )
    most = count_at_most(pick)
    if most > MOST_PICKED:
        raise PickError(
            f"That is {most:,} events, and {MOST_PICKED:,} can be handled again at once; narrow it, or rebuild."
        )
    return pick


def count_at_most(pick: Pick) -> int:
    """As many events as the pick can have, without looking at them."""
    types = list(pick.types)
    if not pick.stream:
        return count_seen(types, pick.until) - count_seen(types, pick.after)
    with connection.cursor() as cursor:
        cursor.execute(COUNT_STREAM, {"stream": pick.stream, "most": MOST_PICKED + 1})
        return int(cursor.fetchone()[0])


def find_unhandled(projection: str, events: Iterable[StoredEvent]) -> dict[int, str]:
    """Positions that the projection has not handled, with the word for why; under its lock the answer holds."""
    with connection.cursor() as cursor:
        cursor.execute(FIND_STANDINGS, [projection, [event.position for event in events]])
        return {position: standing for position, standing in cursor.fetchall() if standing}
