"""eventsource-py's projection_checkpoints, read for what they mean and not for what their columns are called.

- The position is in `position_token`, which catching up writes, or that of `last_event_id`, which the projection
  writes; either may be the older one, so the later counts. `global_position` is never written.
- `lag_seconds` is always 0 and not used; `events_processed` counts some events twice, so it is no progress.
- A dead-lettered event is not waited for, although no checkpoint may ever name it.
- A reset is undone in silence by a worker that runs: its next event writes the checkpoint again, at the head.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from sources.base import Found, SourceError
from sources.checkpoints.contract import Evidence, ForeignCheckpoint, ResetRefusedError, Unaccounted
from sources.checkpoints.eventsource_losses import find_losses
from sources.checkpoints.inspecting import inspect_tables
from sources.checkpoints.lags import WINDOW, Lag, make_lag
from sources.checkpoints.sessions import look_for_workers
from sources.checkpoints.told import Told
from sources.connect import Connection, reading, writing

# More projections than a page can show.
MOST_CHECKPOINTS = 500
# Only a checkpoint that rests for so long may be taken back: no session at a moment does not show that nobody works.
QUIET_SECONDS = 60
# What their column holds at most; a token may say anything.
MOST_POSITIONS = 1 << 63

LIST_CHECKPOINTS = """
SELECT c.projection_name, coalesce(c.last_event_id::text, ''), coalesce(c.last_event_type, ''), c.updated_at,
       coalesce(to_jsonb(c) ->> 'position_token', ''), c.xmin::text,
       extract(epoch FROM now() - c.updated_at)::float8, c.events_processed, last.global_position
FROM projection_checkpoints c
LEFT JOIN events last ON last.event_id = c.last_event_id
ORDER BY c.projection_name LIMIT %(most)s
"""
GET_HEAD = "SELECT coalesce(max(global_position), 0) FROM events"

# What lies in the window after each checkpoint. Letters are probed one by one through their unique index: a join might
# read all of them.
COUNT_WAITING = """
SELECT c.name, waiting.number, waiting.since
FROM json_to_recordset(%(asked)s) AS c(name text, position bigint, types text[])
CROSS JOIN LATERAL (
    SELECT count(*) AS number, min(e.created_at) AS since
    FROM events e
    WHERE e.global_position > c.position AND e.global_position <= c.position + %(window)s
      AND (c.types IS NULL OR e.event_type = ANY(c.types))
      AND coalesce((
          SELECT false FROM dead_letter_queue d WHERE d.event_id = e.event_id AND d.projection_name = c.name
      ), true)
) AS waiting
"""
FIND_IDLE = """
SELECT extract(epoch FROM now() - updated_at)::float8 FROM projection_checkpoints WHERE projection_name = %(name)s
"""
DELETE_CHECKPOINT = """
DELETE FROM projection_checkpoints WHERE projection_name = %(name)s AND xmin::text = %(stamp)s
"""
NOWHERE = Lag(None, note="The event that it names is not in the events table.")
TABLES = ("projection_checkpoints", "events", "dead_letter_queue")


@dataclass(frozen=True)
class Row:
    """A row of projection_checkpoints, and the position of the event that it names."""

    name: str
    last_event_id: str
    last_event_type: str
    updated_at: datetime
    token: str
    # The transaction that wrote the row: another one after every write.
    stamp: str
    idle_seconds: float
    handled: int
    last_position: int | None

    @property
    def position(self) -> int | None:
        known = [one for one in (read_token(self.token), self.last_position) if one is not None]
        return max(known, default=None)


@dataclass(frozen=True)
class EventsourceCheckpoints:
    connection: Connection
    seconds: float
    told: Told

    def inspect(self) -> Found:
        with reading(self.connection, seconds=self.seconds) as cursor:
            return inspect_tables(cursor, TABLES, "projection_checkpoints")

    def list_checkpoints(self) -> list[ForeignCheckpoint]:
        with reading(self.connection, seconds=self.seconds) as cursor:
            cursor.execute(LIST_CHECKPOINTS, {"most": MOST_CHECKPOINTS})
            rows = [Row(*row) for row in cursor.fetchall()]
            cursor.execute(GET_HEAD)
            [(head,)] = cursor.fetchall()
            workers = look_for_workers(cursor, {self.told.get_worker(row.name) for row in rows})
        lags = self._measure(rows, head)
        return [self._describe(row, head, lags.get(row.name, NOWHERE), workers) for row in rows]

    def find_unaccounted(self, checkpoint: ForeignCheckpoint) -> Unaccounted:
        with reading(self.connection, seconds=self.seconds) as cursor:
            return find_losses(cursor, checkpoint, self.told.find_types(checkpoint.consumer))

    def reset_checkpoint(self, consumer: str, *, stamp: str) -> bool:
        worker = self.told.get_worker(consumer)
        with writing(self.connection, seconds=self.seconds) as cursor:
            seen = look_for_workers(cursor, {worker})[worker]
            cursor.execute(FIND_IDLE, {"name": consumer})
            for (idle_seconds,) in cursor.fetchall():
                refuse_if_working(seen, idle_seconds)
                cursor.execute(DELETE_CHECKPOINT, {"name": consumer, "stamp": stamp})
                if not cursor.rowcount:
                    raise ResetRefusedError(
                        "Its checkpoint moved after the reset was confirmed: its worker runs."
                    )
        # One without a session at this moment may have another in the next.
        return False

    def _measure(self, rows: list[Row], head: int) -> dict[str, Lag]:
        """By itself: where counting takes too long, the rest is known all the same."""
        positions = {row.name: row.position for row in rows if row.position is not None}
        types = {name: self.told.find_types(name) for name in positions}
        asked = [
            {"name": name, "position": position, "types": types[name]} for name, position in positions.items()
        ]
        try:
            with reading(self.connection, seconds=self.seconds) as cursor:
                cursor.execute(COUNT_WAITING, {"asked": json.dumps(asked), "window": WINDOW})
                counts = cursor.fetchall()
        except SourceError as error:
            if error.permanent:
                raise
            return dict.fromkeys(positions, Lag(None, note=f"It could not be counted. {error}"))
        return {
            name: make_lag(
                number,
                since,
                beyond=max(head - positions[name] - WINDOW, 0),
                knows_types=types[name] is not None,
            )
            for name, number, since in counts
        }

    def _describe(self, row: Row, head: int, lag: Lag, workers: dict[str, Evidence]) -> ForeignCheckpoint:
        return ForeignCheckpoint(
            consumer=row.name,
            at=row.token or row.last_event_id,
            position=row.position,
            stamp=row.stamp,
            head=head,
            last_event_id=row.last_event_id,
            last_event_type=row.last_event_type,
            handled=row.handled,
            updated_at=row.updated_at,
            idle_seconds=row.idle_seconds,
            lag=lag.events,
            lag_bound=lag.bound,
            lag_note=lag.note,
            waiting_since=lag.since,
            worker=workers[self.told.get_worker(row.name)],
        )


def refuse_if_working(seen: Evidence, idle_seconds: float) -> None:
    """A worker that runs would undo a reset in silence, with its next event; one that connects anew for each event
    has no session most of the time."""
    if seen.is_running:
        raise ResetRefusedError(f"Stop its worker first. {seen.sentence}")
    if idle_seconds < QUIET_SECONDS:
        moved_at = timezone.localtime() - timedelta(seconds=idle_seconds)
        raise ResetRefusedError(
            f"Its checkpoint moved at {moved_at:%H:%M:%S %Z}, and its worker may run still. {seen.sentence} "
            f"If it runs, stop it; then wait until its checkpoint has rested for {QUIET_SECONDS} s."
        )


def read_token(token: str) -> int | None:
    """The position in `{"s": "pg:orders", "k": [18]}`; None: it is not of this shape."""
    try:
        [position] = json.loads(token)["k"]
    except (ValueError, TypeError, KeyError):
        return None
    return position if type(position) is int and 0 <= position < MOST_POSITIONS else None
