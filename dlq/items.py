"""A run's items: letters frozen when the run was asked for, each in at most one active run."""

from django.db import connection
from django.db.models import Count, Exists, OuterRef

from dashboard.models import Lane, Run
from dlq.models import LetterRunItem
from dlq.models.letter import LetterQuerySet

# How many may be worked on side by side.
LANES = 4
# One transaction's worth of items to let go of, and how many of those one pass of beat does: a million in two minutes.
RELEASE_SIZE = 5_000
MOST_RELEASES = 20

# One statement, whatever the number, and no letter is written to; those of one sequence share a lane.
FREEZE = """
INSERT INTO dlq_letterrunitem (run_id, lane, letter_id, outcome, is_active)
SELECT %s, abs(hashtextextended(coalesce(nullif(sequence_key, ''), id::text), 0) %% %s), id, '', true
FROM ({letters}) AS letters
ORDER BY id
ON CONFLICT (letter_id) WHERE is_active DO NOTHING
"""

# The runs that have items, by one probe of an index for each: to go through the items would take beat seconds.
BUSY_RUNS = """
WITH RECURSIVE busy(run_id) AS (
    (SELECT run_id FROM dlq_letterrunitem WHERE {which} ORDER BY run_id LIMIT 1)
    UNION ALL
    SELECT (SELECT run_id FROM dlq_letterrunitem WHERE {which} AND run_id > busy.run_id ORDER BY run_id LIMIT 1)
    FROM busy WHERE busy.run_id IS NOT NULL
)
"""

# The items of ended runs that were not done: their letters are free again. What was sent stays sent. A run that broke
# may have a lane whose worker is still at its last slice.
RELEASE = f"""
{BUSY_RUNS.format(which="is_active")}
UPDATE dlq_letterrunitem SET is_active = false, outcome = CASE WHEN outcome = '' THEN 'not done' ELSE outcome END
WHERE id IN (
    SELECT item.id
    FROM busy
    JOIN dashboard_run r ON r.id = busy.run_id AND r.state IN ('finished', 'cancelled', 'failed')
    JOIN dashboard_lane l ON l.run_id = r.id AND (l.leased_until IS NULL OR l.leased_until <= now())
    CROSS JOIN LATERAL (
        SELECT id FROM dlq_letterrunitem WHERE run_id = r.id AND lane = l.number AND is_active LIMIT %(most)s
    ) AS item
    LIMIT %(most)s
)
"""  # noqa: S608


def freeze(run: Run, letters: LetterQuerySet) -> int:
    """Add the letters to the run; returns how many, as some may be in another."""
    query, params = letters.order_by().values("id", "sequence_key").query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(FREEZE.replace("{letters}", query), [run.pk, LANES, *params])
        return int(cursor.rowcount)


def set_lane_totals(run: Run) -> None:
    """Tell each lane how many items it has."""
    for lane in run.lanes.all():
        number = LetterRunItem.objects.filter(run=run, lane=lane.number).count()
        Lane.objects.filter(pk=lane.pk).update(total=number)


def without_active(letters: LetterQuerySet) -> LetterQuerySet:
    """Those that no active run has."""
    return letters.filter(~Exists(LetterRunItem.objects.filter(letter=OuterRef("pk"), is_active=True)))


def count_by_run(letters: LetterQuerySet) -> dict[int, int]:
    """The active runs that have some of these letters, in their order, and how many each."""
    active = LetterRunItem.objects.filter(is_active=True, letter__in=letters.values("pk"))
    return dict(active.values_list("run_id").annotate(number=Count("pk")).order_by("run_id"))


def release_ended() -> None:
    for _ in range(MOST_RELEASES):
        with connection.cursor() as cursor:
            cursor.execute(RELEASE, {"most": RELEASE_SIZE})
            if cursor.rowcount < RELEASE_SIZE:
                return
