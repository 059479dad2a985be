"""The items of a replay: frozen by one statement, taken lane by lane in order, joined by followers that come free."""

from typing import Any, NamedTuple

from django.db import connection

from dashboard.models import Run
from dlq.replay.options import BUCKETS, REST, ReplayOptions, ladder_sizes
from dlq.replay.rows import Row

# One statement, whatever the number, and no letter is written to. A sequence's letters are in one lane, in order; its
# first may be on the ladder, the others come with the rest. A dry run goes sequence by sequence.
FREEZE = """
{judged}, placed AS (
    SELECT *, sequence_key = '' OR row_number() OVER (
        PARTITION BY source, consumer, sequence_key ORDER BY sequence_no, id) = 1 AS is_head
    FROM judged WHERE fate = ANY(%s)
), climbing AS (
    SELECT *, CASE WHEN %s AND is_head THEN row_number() OVER (PARTITION BY is_head ORDER BY id) END AS n FROM placed
), ranked AS (
    SELECT *, CASE WHEN n <= %s THEN 1 WHEN n <= %s THEN 2 WHEN n <= %s THEN 3 ELSE %s END AS rung FROM climbing
)
INSERT INTO dlq_letterrunitem (run_id, lane, letter_id, outcome, is_active, rung)
SELECT %s, abs(hashtextextended(coalesce(nullif(sequence_key, ''), id::text), 0) %% %s) %% %s, id, '', true, rung
FROM ranked
ORDER BY rung, source, consumer, CASE WHEN %s THEN sequence_key ELSE '' END, sequence_no, id
ON CONFLICT (letter_id) WHERE is_active DO NOTHING
"""

# The next of a lane that its ladder has come to. They are in the order of their rungs, so the first few tell; to look
# for a rung among all that wait would take a look at each of them.
LIST_NEXT = """
SELECT id, deaths, source, consumer, sequence_key FROM (
    SELECT i.id, i.deaths, i.rung, l.source, l.consumer, l.sequence_key
    FROM dlq_letterrunitem i JOIN dlq_deadletter l ON l.id = i.letter_id
    WHERE i.run_id = %(run)s AND i.lane = %(lane)s AND i.is_active
    ORDER BY i.id LIMIT %(limit)s
) AS first WHERE rung <= %(rung)s ORDER BY id
"""

# The same where what was sent is still to be confirmed: the next of its sequence waits. Each item is asked for the
# letters that are open before it; to compare it with all that are on their way takes minutes when those are many.
LIST_NEXT_CONFIRMED = """
SELECT id, deaths, source, consumer, sequence_key FROM (
    SELECT i.id, i.deaths, i.rung, l.source, l.consumer, l.sequence_key
    FROM dlq_letterrunitem i JOIN dlq_deadletter l ON l.id = i.letter_id
    WHERE i.run_id = %(run)s AND i.lane = %(lane)s AND i.is_active AND i.outcome = ''
        AND NOT EXISTS (
            SELECT FROM dlq_deadletter e JOIN dlq_letterrunitem s ON s.letter_id = e.id AND s.is_active
            WHERE e.sequence_key = l.sequence_key AND e.sequence_key <> '' AND e.consumer = l.consumer
                AND e.source = l.source AND e.status IN ('failed', 'parked')
                AND (e.sequence_no, e.id) < (l.sequence_no, l.id) AND s.run_id = %(run)s AND s.outcome = 'sent'
            OFFSET 0)
    ORDER BY i.id LIMIT %(limit)s
) AS first WHERE rung <= %(rung)s ORDER BY id
"""

# What was parked behind the letters that have just been handled joins the run; in order, at its end. A sequence whose
# next letter is on its way already is passed by, which is nearly all of them. Gives the number, and if they are few
# the items themselves.
JOIN_FOLLOWERS = """
WITH free AS (
    SELECT given.key
    FROM unnest(%(keys)s::text[]) AS given(key)
    CROSS JOIN LATERAL (
        SELECT id, status FROM dlq_deadletter
        WHERE sequence_key = given.key AND sequence_key <> '' AND consumer = %(consumer)s AND source = %(source)s
            AND status IN ('failed', 'parked')
        ORDER BY sequence_no, id LIMIT 1
    ) AS next
    LEFT JOIN dlq_letterrunitem i ON i.letter_id = next.id AND i.is_active
    WHERE next.status = 'parked' AND i.id IS NULL
), joined AS (
    INSERT INTO dlq_letterrunitem (run_id, lane, letter_id, outcome, is_active, rung)
    SELECT %(run)s, %(lane)s, l.id, '', true, %(rung)s
    FROM free JOIN dlq_deadletter l ON l.sequence_key = free.key AND l.sequence_key <> ''
        AND l.consumer = %(consumer)s AND l.source = %(source)s
        AND l.status IN ('failed', 'parked') AND l.status = 'parked'
    ORDER BY l.sequence_no, l.id
    ON CONFLICT (letter_id) WHERE is_active DO NOTHING
    RETURNING id
)
SELECT count(*), CASE WHEN count(*) <= %(room)s THEN coalesce(array_agg(id ORDER BY id), '{}') ELSE '{}' END
FROM joined
"""

SET_TOTALS = """
UPDATE dashboard_lane l SET total = (
    SELECT count(*) FROM dlq_letterrunitem i WHERE i.run_id = l.run_id AND i.lane = l.number)
WHERE l.run_id = %s
"""


# So many new rows make the planner's idea of the table wrong, and each slice slow until somebody corrects it.
ANALYZE_ABOVE = 1000


class Next(NamedTuple):
    """An item that is due, before its letter is locked."""

    item_id: int
    deaths: int
    source: str
    consumer: str
    sequence_key: str

    @property
    def kin(self) -> tuple[str, str, int]:
        """What items that are tried together have in common."""
        return self.source, self.consumer, self.deaths


def freeze(
    run: Run, judged: str, values: list[Any], options: ReplayOptions, *, statement: str = FREEZE
) -> int:
    """Add the letters of a plan to the run (see queries/plan.py); returns how many, as some may be in another."""
    ladder = [options.canary, *ladder_sizes(), REST]
    lanes = [run.pk, BUCKETS, options.lanes, options.dry_run]
    with connection.cursor() as cursor:
        cursor.execute(statement.replace("{judged}", judged), [*values, *ladder, *lanes])
        frozen = int(cursor.rowcount)
        cursor.execute(SET_TOTALS, [run.pk])
        if frozen > ANALYZE_ABOVE:
            cursor.execute("ANALYZE dlq_letterrunitem")
    return frozen


def list_next(run: Run, lane: int, *, rung: int, limit: int) -> list[Next]:
    statement = LIST_NEXT_CONFIRMED if run.options.get("confirms") else LIST_NEXT
    with connection.cursor() as cursor:
        cursor.execute(statement, {"run": run.pk, "lane": lane, "rung": rung, "limit": limit})
        return [Next(*row) for row in cursor.fetchall()]


class Joined(NamedTuple):
    """Followers that have come into the run; the items are named only where there is room for all of them."""

    total: int
    item_ids: list[int]


NOBODY = Joined(0, [])


def join_followers(run: Run, lane: int, handled: list[Row], *, room: int) -> Joined:
    """Add what is parked in the sequences of these letters; the caller has their consumer's lock."""
    keys = {row.sequence_key for row in handled if row.sequence_key}
    if not keys:
        return NOBODY
    values: dict[str, Any] = {
        "run": run.pk,
        "lane": lane,
        "keys": sorted(keys),
        "consumer": handled[0].consumer,
        "source": handled[0].source,
        "rung": REST,
        "room": room,
    }
    with connection.cursor() as cursor:
        cursor.execute(JOIN_FOLLOWERS, values)
        return Joined(*cursor.fetchone())
