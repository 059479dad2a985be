"""Appending, in such a way that a reader by position can never pass over an event that commits late.

1. One statement takes the positions from the head's row, and with them the row's lock until commit.
2. Under that lock a second statement, with a new snapshot, reads the stream's version and inserts the events: nobody
   else can be appending.
So whoever commits later has the higher positions, and a writer that rolls back gives its positions back. The price:
appends wait for each other from 1 to commit. Append in batches, and as the last thing of a transaction.

If the process dies before commit, nothing happened.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.core.serializers.json import DjangoJSONEncoder
from django.db import IntegrityError, connection, transaction

# As dead letters know it by: under another name there, its followers would not be parked.
MOST_STREAM_BYTES = 600

# Those who wait for an UPDATE are woken one by one; for an INSERT … ON CONFLICT all at once, to fight for it.
TAKE_POSITIONS = """
UPDATE projections_head
SET position = position + %(number)s,
    recorded_at = greatest(recorded_at, coalesce(%(at)s::timestamptz, clock_timestamp()))
WHERE id = 1 RETURNING position - %(number)s, recorded_at
"""
# The row appears with the first event.
ADD_HEAD = """
INSERT INTO projections_head (id, position, recorded_at)
VALUES (1, 0, coalesce(%(at)s::timestamptz, clock_timestamp())) ON CONFLICT DO NOTHING
"""

GET_VERSION = "SELECT coalesce(max(version), 0) FROM projections_event WHERE stream = %s"

# The events in the order given, each with its number among those of its type; none if the version is not as expected.
INSERT = """
WITH given AS (
    SELECT *
    FROM unnest(%(ids)s::uuid[], %(types)s::text[], %(data)s::jsonb[], %(metadata)s::jsonb[])
        WITH ORDINALITY AS e(event_id, type, data, metadata, n)
), numbered AS (
    INSERT INTO projections_eventtype AS known (name, number)
    SELECT type, count(*) FROM given GROUP BY type
    ON CONFLICT (name) DO UPDATE SET number = known.number + excluded.number
    RETURNING name, number
), stream AS (
    SELECT coalesce(max(version), 0) AS version FROM projections_event WHERE stream = %(stream)s
)
INSERT INTO projections_event
    (position, event_id, stream, version, type, type_no, data, metadata, recorded_at)
SELECT %(after)s + n, event_id, %(stream)s, stream.version + n, type,
       numbered.number - count(*) OVER (PARTITION BY type) + row_number() OVER (PARTITION BY type ORDER BY n),
       data, metadata, %(recorded_at)s
FROM given JOIN numbered ON numbered.name = given.type CROSS JOIN stream
WHERE %(expected)s::bigint IS NULL OR stream.version = %(expected)s
RETURNING version
"""


class VersionConflictError(Exception):
    """The stream is not at the version that the writer expected: somebody else has appended to it."""


class DuplicateEventError(Exception):
    """An event with this id is in the store already."""


@dataclass(frozen=True)
class NewEvent:
    """An event to be appended; give it an id if the same one may be appended twice."""

    type: str
    data: Any
    metadata: dict[str, Any] = field(default_factory=dict)
    event_id: UUID = field(default_factory=uuid4)


def append(
    stream: str,
    events: Iterable[NewEvent],
    *,
    expected_version: int | None = None,
    recorded_at: datetime | None = None,
) -> int:
    """Append to a stream and return its new version; an expected version of None is any, 0 is a new stream.

    A time may be given for events that happened earlier, as in a demonstration; never before the last event's.
    """
    given = list(events)
    if not given:
        raise ValueError("There is nothing to append.")
    if not 0 < (size := len(stream.encode())) <= MOST_STREAM_BYTES:
        raise ValueError(f"A stream's name has 1 to {MOST_STREAM_BYTES} bytes; this has {size:,}.")
    with transaction.atomic(), connection.cursor() as cursor:
        after, recorded_at = take_positions(cursor, len(given), recorded_at)
        values: dict[str, Any] = {
            "ids": [event.event_id for event in given],
            "types": [event.type for event in given],
            "data": [encode(event.data) for event in given],
            "metadata": [encode(event.metadata) for event in given],
            "stream": stream,
            "expected": expected_version,
            "after": after,
            "recorded_at": recorded_at,
        }
        try:
            cursor.execute(INSERT, values)
        except IntegrityError as error:
            # A stricter isolation than read committed: then the snapshot is the transaction's, and may be old.
            if "event_stream_version" in str(error):
                raise VersionConflictError(f"{stream} has moved on") from error
            raise DuplicateEventError(str(error)) from error
        versions = [row[0] for row in cursor.fetchall()]
        if not versions:
            cursor.execute(GET_VERSION, [stream])
            raise VersionConflictError(
                f"{stream} is at version {cursor.fetchone()[0]}, not {expected_version}"
            )
    return int(max(versions))


def take_positions(cursor: Any, number: int, at: datetime | None = None) -> tuple[int, datetime]:
    """The position before the first one taken, and the time of all of them."""
    values = {"number": number, "at": at}
    cursor.execute(TAKE_POSITIONS, values)
    if cursor.rowcount == 0:
        cursor.execute(ADD_HEAD, values)
        cursor.execute(TAKE_POSITIONS, values)
    after, recorded_at = cursor.fetchone()
    return after, recorded_at


def encode(value: Any) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder)
