"""Forgetting the oldest events, where a store need not keep them for ever; nothing does it unless it is told to.

Under every projection's lock, so that none begins to read what is about to go: (1) find the last position that nobody
needs, (2) delete up to it. What is needed: what a projection has not come to, and every event behind a checkpoint whose
fate is open, that is each hole of its account but skips, each open letter and each waiting event. What is left has no
gaps, and begins at the tail.

A skip whose event is gone cannot be brought back; it stays on record until `forget_skips`, which leaves it counted.
"""

from django.db import connection, transaction

from projections.accounting import find_first_open
from projections.models import NATIVE, Projection
from projections.runtime.lock import lock_consumer
from projections.store import get_head, get_tail

# One transaction's worth.
MOST_AT_ONCE = 5000

DELETE = "DELETE FROM projections_event WHERE position <= %s"

# Those that the account begins after leave no span in it; the caller holds the consumer's lock.
FORGET_SKIPS = """
WITH gone AS (
    DELETE FROM projections_skip WHERE id IN (
        SELECT id FROM projections_skip WHERE projection_id = %s AND position <= %s ORDER BY position LIMIT %s)
    RETURNING projection_id, position
)
INSERT INTO projections_span (projection_id, first, last, ignored_count, closed_count, skipped_count)
SELECT p.id, gone.position, gone.position, 0, 0, 1
FROM gone JOIN projections_projection p ON p.id = gone.projection_id AND gone.position > p.accounting_from
"""


def prune_events(keep: int) -> int:
    """Delete a batch of the oldest events, if there are more than `keep`; returns how many."""
    if get_head() - get_tail() <= keep:
        return 0
    with transaction.atomic(), connection.cursor() as cursor:
        rows = Projection.objects.filter(source=NATIVE)
        for name in rows.order_by("name").values_list("name", flat=True):
            lock_consumer(name)
        needed = [find_first_open(row) for row in rows]
        limit = min([get_head() - keep, get_tail() + MOST_AT_ONCE, *(first - 1 for first in needed)])
        cursor.execute(DELETE, [limit])
        return max(int(cursor.rowcount), 0)


def forget_skips() -> None:
    """Forget a batch of each projection's skips whose events are gone."""
    tail = get_tail()
    for row in Projection.objects.filter(source=NATIVE).order_by("name"):
        with transaction.atomic(), connection.cursor() as cursor:
            lock_consumer(row.name)
            cursor.execute(FORGET_SKIPS, [row.pk, tail, MOST_AT_ONCE])
