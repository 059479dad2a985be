"""What the dead letters forget, and when: closed letters if a setting says so, open ones never."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from dashboard.models import Run
from dlq.items import BUSY_RUNS, without_active
from dlq.models import (
    Attempt,
    CategoryBucket,
    Confirmation,
    DeadLetter,
    DepthSample,
    FailureBucket,
    LetterBody,
    LetterRunItem,
)

# One transaction's worth: short enough that nobody waits for it.
PURGE_SIZE = 500
# What one pass of beat does at most.
MOST_BATCHES = 20
KEEP_BUCKETS_DAYS = 35
KEEP_ITEMS_DAYS = 90

# Groups whose letters are all gone go in two steps: a recorder that read the group before it was retired has long
# committed when it is deleted, and one that finds it retired revives it (see recording/groups.py).
NO_LETTERS = """
NOT EXISTS (SELECT FROM dlq_deadletter l WHERE l.group_id = g.id)
    AND NOT EXISTS (SELECT FROM dlq_counterdelta d WHERE d.group_id = g.id)
"""
RETIRE_GROUPS = f"""
UPDATE dlq_failuregroup g SET retired_at = now()
WHERE retired_at IS NULL AND g.created_at < now() - make_interval(days => %(days)s) AND {NO_LETTERS}
"""  # noqa: S608
# With what was counted and seen of them.
PURGE_GROUPS = f"""
WITH gone AS (
    DELETE FROM dlq_failuregroup g WHERE retired_at < now() - interval '1 hour' AND {NO_LETTERS} RETURNING id
), facets AS (
    DELETE FROM dlq_groupfacet f USING gone WHERE f.group_id = gone.id
)
DELETE FROM dlq_counter c USING gone WHERE c.group_id = gone.id
"""  # noqa: S608

# Items of runs that ended long ago, with what was called back about them; the runs' totals stay.
PURGE_ITEMS = f"""
{BUSY_RUNS.format(which="true")}, gone AS (
    DELETE FROM dlq_letterrunitem WHERE id IN (
        SELECT item.id
        FROM busy
        JOIN dashboard_run r ON r.id = busy.run_id AND r.ended_at < now() - make_interval(days => %(days)s)
        CROSS JOIN LATERAL (
            SELECT id FROM dlq_letterrunitem WHERE run_id = r.id AND NOT is_active LIMIT %(most)s
        ) AS item
        LIMIT %(most)s
    ) RETURNING id
)
DELETE FROM dlq_confirmation c USING gone WHERE c.item_id = gone.id
"""  # noqa: S608


def purge() -> None:
    """One pass: a bounded number of small batches, the rest next time."""
    forgotten = timezone.now() - timedelta(days=KEEP_BUCKETS_DAYS)
    FailureBucket.objects.filter(starts_at__lt=forgotten).delete()
    CategoryBucket.objects.filter(starts_at__lt=forgotten).delete()
    DepthSample.objects.filter(at__lt=forgotten).delete()
    with connection.cursor() as cursor:
        cursor.execute(PURGE_ITEMS, {"days": KEEP_ITEMS_DAYS, "most": PURGE_SIZE * MOST_BATCHES})
    if not settings.KEEP_CLOSED_DAYS:
        return
    old = timezone.now() - timedelta(days=settings.KEEP_CLOSED_DAYS)
    for _ in range(MOST_BATCHES):
        if purge_letters(old) < PURGE_SIZE:
            break
    with connection.cursor() as cursor:
        cursor.execute(PURGE_GROUPS)
        cursor.execute(RETIRE_GROUPS, {"days": settings.KEEP_CLOSED_DAYS})


def purge_letters(old: datetime) -> int:
    """Delete a batch of letters that were closed before a time, and all that belongs to them; returns how many."""
    with transaction.atomic():
        # Without a constraint in the database it is here that nothing is left behind.
        closed = without_active(DeadLetter.objects.filter(closed_at__lt=old)).order_by("closed_at")
        ids = list(closed.select_for_update(skip_locked=True).values_list("pk", flat=True)[:PURGE_SIZE])
        Confirmation.objects.filter(item__letter_id__in=ids).delete()
        for model in (LetterBody, Attempt):
            model.objects.filter(letter_id__in=ids).delete()
        # One that a run has frozen since stays, and is counted there as moved on.
        LetterRunItem.objects.filter(letter_id__in=ids, is_active=False).delete()
        DeadLetter.objects.filter(pk__in=ids).delete()
    return len(ids)


def has_items(run: Run) -> bool:
    """Whether it is still known which letters the run had."""
    return not run.ended_at or run.ended_at > timezone.now() - timedelta(days=KEEP_ITEMS_DAYS)
