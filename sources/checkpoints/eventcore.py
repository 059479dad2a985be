"""EventCore's subscriptions: positions are event ids that grow, and whoever works holds an advisory lock."""

from dataclasses import dataclass
from datetime import datetime

from sources.base import Found
from sources.checkpoints.contract import Evidence, ForeignCheckpoint, ResetRefusedError, Unaccounted
from sources.checkpoints.inspecting import inspect_tables
from sources.checkpoints.lags import WINDOW, Lag, make_lag
from sources.checkpoints.told import Told
from sources.connect import Connection, Cursor, reading, writing

MOST_CHECKPOINTS = 500
TABLES = ("eventcore_subscription_versions", "eventcore_events")
OFFSET, PRIME, BITS = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1

LIST_CHECKPOINTS = """
SELECT subscription_name, last_position::text, updated_at, xmin::text,
       extract(epoch FROM now() - updated_at)::float8
FROM eventcore_subscription_versions ORDER BY subscription_name LIMIT %(most)s
"""
# A lock by one number of 64 bits stands in pg_locks as two halves.
LIST_HOLDERS = """
SELECT (l.classid::bigint << 32) | l.objid::bigint, coalesce(nullif(a.application_name, ''), 'process ' || l.pid)
FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (l.classid::bigint << 32) | l.objid::bigint = ANY(%(keys)s)
"""
COUNT_WAITING = """
SELECT count(*) FILTER (WHERE after.event_type = ANY(%(types)s)),
       min(after.created_at) FILTER (WHERE after.event_type = ANY(%(types)s)), count(*)
FROM (
    SELECT event_type, created_at FROM eventcore_events
    WHERE event_id > %(position)s::uuid ORDER BY event_id LIMIT %(most)s
) AS after
"""
LOCK_LEADER = "SELECT pg_try_advisory_xact_lock(%(key)s)"
DELETE_CHECKPOINT = """
DELETE FROM eventcore_subscription_versions WHERE subscription_name = %(name)s AND xmin::text = %(stamp)s
"""
FIND_CHECKPOINT = "SELECT 1 FROM eventcore_subscription_versions WHERE subscription_name = %(name)s"
NO_TRACE = Unaccounted(None, "Which events were skipped cannot be known: EventCore leaves no trace of them.")


@dataclass(frozen=True)
class Row:
    name: str
    position: str
    updated_at: datetime
    stamp: str
    idle_seconds: float


@dataclass(frozen=True)
class EventcoreCheckpoints:
    connection: Connection
    seconds: float
    told: Told

    def inspect(self) -> Found:
        with reading(self.connection, seconds=self.seconds) as cursor:
            return inspect_tables(cursor, TABLES, TABLES[0])

    def list_checkpoints(self) -> list[ForeignCheckpoint]:
        with reading(self.connection, seconds=self.seconds) as cursor:
            cursor.execute(LIST_CHECKPOINTS, {"most": MOST_CHECKPOINTS})
            rows = [Row(*row) for row in cursor.fetchall()]
            cursor.execute(LIST_HOLDERS, {"keys": [get_lock_key(row.name) for row in rows]})
            holders = dict(cursor.fetchall())
            lags = {row.name: self._measure(cursor, row) for row in rows}
        return [
            ForeignCheckpoint(
                consumer=row.name,
                at=row.position,
                stamp=row.stamp,
                last_event_id=row.position,
                updated_at=row.updated_at,
                idle_seconds=row.idle_seconds,
                lag=lags[row.name].events,
                lag_bound=lags[row.name].bound,
                lag_note=lags[row.name].note,
                waiting_since=lags[row.name].since,
                worker=describe_leader(holders.get(get_lock_key(row.name))),
            )
            for row in rows
        ]

    def find_unaccounted(self, checkpoint: ForeignCheckpoint) -> Unaccounted:
        return NO_TRACE

    def reset_checkpoint(self, consumer: str, *, stamp: str) -> bool:
        """Under the leader's own lock: while we hold it, no projector can begin."""
        with writing(self.connection, seconds=self.seconds) as cursor:
            cursor.execute(LOCK_LEADER, {"key": get_lock_key(consumer)})
            if cursor.fetchall() != [(True,)]:
                raise ResetRefusedError("Stop its projector first: somebody holds its leader lock.")
            cursor.execute(DELETE_CHECKPOINT, {"name": consumer, "stamp": stamp})
            if not cursor.rowcount:
                cursor.execute(FIND_CHECKPOINT, {"name": consumer})
                if cursor.fetchall():
                    raise ResetRefusedError(
                        "Its checkpoint moved after the reset was confirmed: its projector ran."
                    )
        return True

    def _measure(self, cursor: Cursor, row: Row) -> Lag:
        types = self.told.find_types(row.name)
        if types is None:
            return Lag(
                None, note="A projector reads events of its own type only: name event_types in redrive.toml."
            )
        cursor.execute(COUNT_WAITING, {"types": types, "position": row.position, "most": WINDOW + 1})
        [(number, since, looked_at)] = cursor.fetchall()
        return make_lag(number, since, beyond=max(looked_at - WINDOW, 0), knows_types=True)


def describe_leader(holder: str | None) -> Evidence:
    if holder is None:
        return Evidence(False, "Nobody holds its leader lock.")
    return Evidence(True, f"{holder} holds its leader lock.")


def get_lock_key(subscription: str) -> int:
    """FNV-1a of the name as a signed number of 64 bits, as EventCore makes it."""
    found = OFFSET
    for byte in subscription.encode():
        found = ((found ^ byte) * PRIME) & BITS
    return found - (1 << 64) if found >> 63 else found
