"""Folding what the triggers appended; beat does it every few seconds, and at most one process at a time."""

import time

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

# Any number that nobody else uses for an advisory lock.
LOCK = 0x646C71
# Minutes older than this become hours: no page and no alert looks at them one by one.
MINUTES_KEPT = "2 hours"
# Of each kind, in one go: a first import brings a long past, and readers wait for nobody.
MOST_FOLDED = 50_000
# Counting what is blocked looks at every open letter; where that takes long it is done the more seldom.
MOST_OF_THE_TIME = 0.05
GRACE_SECONDS = 1.0

# Move the deltas into the counters; a reader sees both before or both after, never a letter twice.
FOLD_COUNTERS = """
WITH gone AS (
    DELETE FROM dlq_counterdelta
    WHERE id = ANY(ARRAY(SELECT id FROM dlq_counterdelta ORDER BY id LIMIT %(most)s)) RETURNING *
), added AS (
    INSERT INTO dlq_counter AS kept
        (source, consumer, group_id, error_type, category, tier, status, number, first_at, last_at)
    SELECT source, consumer, group_id, error_type, category, tier, status, sum(number), min(first_at), max(last_at)
    FROM gone GROUP BY 1, 2, 3, 4, 5, 6, 7
    ON CONFLICT (source, consumer, group_id, error_type, category, tier, status) DO UPDATE SET
        number = kept.number + excluded.number,
        first_at = least(kept.first_at, excluded.first_at),
        last_at = greatest(kept.last_at, excluded.last_at)
)
SELECT count(*) FROM gone
"""

# What was appended becomes minutes of its groups, or hours if it is old, and also five minutes of its categories.
FOLD_RAW = """
WITH gone AS (
    DELETE FROM dlq_failurebucket
    WHERE id = ANY(ARRAY(SELECT id FROM dlq_failurebucket WHERE width = 'raw' ORDER BY id LIMIT %(most)s)) RETURNING *
), by_category AS (
    INSERT INTO dlq_categorybucket AS kept (starts_at, category, number)
    SELECT date_bin('5 minutes', starts_at, 'epoch'), category, sum(number) FROM gone GROUP BY 1, 2
    ON CONFLICT (starts_at, category) DO UPDATE SET number = kept.number + excluded.number
), placed AS (
    SELECT *, starts_at < now() - %(kept)s::interval AS is_old FROM gone
), added AS (
    INSERT INTO dlq_failurebucket AS kept (starts_at, width, source, consumer, group_id, category, number)
    SELECT CASE WHEN is_old THEN date_trunc('hour', starts_at, 'UTC') ELSE starts_at END,
           CASE WHEN is_old THEN 'hour' ELSE 'minute' END, source, consumer, group_id, category, sum(number)
    FROM placed GROUP BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (starts_at, width, source, consumer, group_id, category) WHERE NOT width = 'raw'
    DO UPDATE SET number = kept.number + excluded.number
)
SELECT count(*) FROM gone
"""

FOLD_MINUTES = """
WITH gone AS (
    DELETE FROM dlq_failurebucket WHERE id = ANY(ARRAY(
        SELECT id FROM dlq_failurebucket WHERE width = 'minute' AND starts_at < now() - %(kept)s::interval
        LIMIT %(most)s)) RETURNING *
), added AS (
    INSERT INTO dlq_failurebucket AS kept (starts_at, width, source, consumer, group_id, category, number)
    SELECT date_trunc('hour', starts_at, 'UTC'), 'hour', source, consumer, group_id, category, sum(number)
    FROM gone GROUP BY 1, 3, 4, 5, 6
    ON CONFLICT (starts_at, width, source, consumer, group_id, category) WHERE NOT width = 'raw'
    DO UPDATE SET number = kept.number + excluded.number
)
SELECT count(*) FROM gone
"""

# Count for every group the sequences that its open letters block, and the letters parked in them.
COUNT_BLOCKED = """
WITH heads AS (
    SELECT DISTINCT group_id, source, consumer, sequence_key
    FROM dlq_deadletter WHERE status = 'failed' AND sequence_key <> ''
), parked AS (
    SELECT source, consumer, sequence_key, count(*) AS number
    FROM dlq_deadletter WHERE status = 'parked' GROUP BY 1, 2, 3
), blocked AS (
    SELECT group_id, count(*) AS sequences, coalesce(sum(parked.number), 0) AS parked
    FROM heads LEFT JOIN parked USING (source, consumer, sequence_key) GROUP BY 1
), changed AS (
    -- Locked by id, as by all who write to several groups.
    SELECT g.id, coalesce(blocked.sequences, 0) AS sequences, coalesce(blocked.parked, 0) AS parked
    FROM dlq_failuregroup g LEFT JOIN blocked ON blocked.group_id = g.id
    WHERE (g.blocked_sequence_count > 0 OR blocked.group_id IS NOT NULL)
        AND (g.blocked_sequence_count, g.parked_count)
            IS DISTINCT FROM (coalesce(blocked.sequences, 0), coalesce(blocked.parked, 0))
    ORDER BY g.id FOR UPDATE OF g
)
UPDATE dlq_failuregroup g SET blocked_sequence_count = changed.sequences, parked_count = changed.parked
FROM changed WHERE g.id = changed.id
"""


class Blocked:
    """Counts what is blocked when something has changed; what changed before this process began nobody knows."""

    def __init__(self) -> None:
        self.is_due = True
        self.not_before = 0.0

    def count(self, cursor: CursorWrapper, *, has_changed: bool) -> None:
        self.is_due |= has_changed
        began = time.monotonic()
        if self.is_due and began >= self.not_before:
            cursor.execute(COUNT_BLOCKED)
            # A count that is rolled back is still owed.
            transaction.on_commit(self.settle)
            now = time.monotonic()
            self.not_before = now + (now - began) / MOST_OF_THE_TIME - GRACE_SECONDS

    def settle(self) -> None:
        self.is_due = False


_blocked = Blocked()


def compact() -> bool:
    """Fold what is there, up to a limit; True: there may be more. Without effect if another process is at it."""
    limits: dict[str, str | int] = {"kept": MINUTES_KEPT, "most": MOST_FOLDED}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        if not cursor.fetchone()[0]:
            return False
        folded = []
        for statement in (FOLD_COUNTERS, FOLD_RAW, FOLD_MINUTES):
            cursor.execute(statement, limits)
            folded.append(int(cursor.fetchone()[0]))
        _blocked.count(cursor, has_changed=folded[0] > 0)
    return max(folded) >= MOST_FOLDED
