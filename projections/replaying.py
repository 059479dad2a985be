"""What a replay of letters asks of the projection that it writes for; under the consumer's lock, the answers hold."""

from collections.abc import Iterable
from typing import NamedTuple

from django.db import connection

from projections.models import NATIVE, Projection
from projections.store.read import COLUMNS, StoredEvent, decode

READ_AT = f"SELECT {COLUMNS} FROM projections_event WHERE position = ANY(%s)"  # noqa: S608

# For a statement that has a table heads(consumer, stream, first, behind): the events after `first` of its stream that
# the consumer is past. Where no more follow than `behind`, which the caller can account for, it does not look closer:
# that is nearly always so, and a look at the index alone.
LATER_EVENTS = """
SELECT h.consumer, e.event_id
FROM heads h
JOIN projections_projection p ON p.source = 'native' AND p.name = h.consumer
CROSS JOIN LATERAL (
    SELECT e.event_id::text FROM projections_event e
    WHERE e.stream = h.stream AND e.version > h.first AND e.position <= p.position AND e.type = ANY(p.event_types)
    OFFSET 0
) AS e
WHERE h.behind < (SELECT count(*) FROM projections_event e WHERE e.stream = h.stream AND e.version > h.first)
"""


class Standing(NamedTuple):
    """How far a projection is, and whether a rebuild has it."""

    position: int
    is_rebuilding: bool


def find_standing(name: str) -> Standing | None:
    """None: no projection of that name is known."""
    row = Projection.objects.filter(source=NATIVE, name=name).values_list("position", "state").first()
    return Standing(row[0], row[1] == Projection.State.REBUILDING) if row else None


def lock_standings(names: Iterable[str]) -> dict[str, Standing]:
    """The same for several, with their rows locked: a rebuild cannot begin before this transaction ends."""
    rows = Projection.objects.select_for_update().filter(source=NATIVE, name__in=list(names)).order_by("pk")
    return {row.name: Standing(row.position, row.state == Projection.State.REBUILDING) for row in rows}


def read_at(positions: Iterable[int]) -> dict[int, StoredEvent]:
    """The events at these positions; a position without one is not in it."""
    with connection.cursor() as cursor:
        cursor.execute(READ_AT, [list(positions)])
        return {row[0]: decode(row) for row in cursor.fetchall()}
