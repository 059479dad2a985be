"""What a replay of letters asks of the projection that it writes for; under the consumer's lock, the answers hold."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db import connection

from projections.models import NATIVE, Projection
from projections.store.read import COLUMNS, StoredEvent, decode

READ_AT = f"SELECT {COLUMNS} FROM projections_event WHERE position = ANY(%s)"  # noqa: S608

# Events of these streams after these versions that the consumer is past; which of them have letters, the caller knows.
LIST_LATER = """
SELECT DISTINCT ON (e.stream, e.event_id) given.stream, e.event_id::text
FROM unnest(%(streams)s::text[], %(versions)s::bigint[]) AS given(stream, version)
JOIN projections_projection p ON p.source = 'native' AND p.name = %(name)s
JOIN projections_event e ON e.stream = given.stream AND e.version > given.version
    AND e.position <= p.position AND e.type = ANY(p.event_types)
LIMIT %(limit)s
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


def list_later(name: str, places: Iterable[tuple[str, int]], *, limit: int) -> list[tuple[str, str]]:
    """Stream and event id of events after these places of their streams that the projection has gone past."""
    places = list(places)
    values: dict[str, Any] = {
        "name": name,
        "streams": [stream for stream, _ in places],
        "versions": [version for _, version in places],
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(LIST_LATER, values)
        return list(cursor.fetchall())
