"""The items of a reprocessing: events, frozen by one statement, taken lane by lane in the order of the store."""

from typing import Any

from django.db import connection

from dashboard.models import Run
from dlq.replay import queue as replay_queue
from dlq.replay.options import ReplayOptions
from dlq.replay.queue import Next
from projections.api import NATIVE, read_at

# As letters are frozen (see replay/queue.py): a stream is in one lane, in order, and its first may be on the ladder.
FREEZE = """
{judged}, placed AS (
    SELECT *, row_number() OVER (PARTITION BY stream ORDER BY version) = 1 AS is_head FROM judged WHERE fate = 'taken'
), climbing AS (
    SELECT *, CASE WHEN %s AND is_head THEN row_number() OVER (PARTITION BY is_head ORDER BY position) END AS n
    FROM placed
), ranked AS (
    SELECT *, CASE WHEN n <= %s THEN 1 WHEN n <= %s THEN 2 WHEN n <= %s THEN 3 ELSE %s END AS rung FROM climbing
)
INSERT INTO dlq_letterrunitem (run_id, lane, position, outcome, is_active, rung)
SELECT %s, abs(hashtextextended(stream, 0) %% %s) %% %s, position, '', true, rung
FROM ranked ORDER BY rung, CASE WHEN %s THEN stream ELSE '' END, position
"""

# As in replay/queue.py: the first few tell.
LIST_NEXT = """
SELECT id, deaths, position FROM (
    SELECT id, deaths, position, rung FROM dlq_letterrunitem
    WHERE run_id = %s AND lane = %s AND is_active ORDER BY id LIMIT %s
) AS first WHERE rung <= %s ORDER BY id
"""


def freeze(run: Run, judged: str, values: list[Any], options: ReplayOptions) -> int:
    """Add the events of a plan to the run (see queries/reprocess.py); returns how many."""
    return replay_queue.freeze(run, judged, values, options, statement=FREEZE)


def list_next(run: Run, lane: int, *, rung: int, limit: int) -> list[Next]:
    [consumer] = run.options["consumers"]
    with connection.cursor() as cursor:
        cursor.execute(LIST_NEXT, [run.pk, lane, limit, rung])
        rows = cursor.fetchall()
    # Only a dry run must not cut a stream in two, and so needs to know it.
    events = read_at(position for *_, position in rows) if run.options["dry_run"] else {}
    return [
        Next(item_id, deaths, NATIVE, consumer, events[position].stream if position in events else "")
        for item_id, deaths, position in rows
    ]
