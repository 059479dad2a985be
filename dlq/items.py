"""A run's items: letters frozen when the run was asked for, each in at most one active run."""

from django.db import connection
from django.db.models import Exists, OuterRef

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

# The items of ended runs that were not done: their letters are free again. What was sent stays sent.
RELEASE = """
UPDATE dlq_letterrunitem SET is_active = false, outcome = CASE WHEN outcome = '' THEN 'not done' ELSE outcome END
WHERE id IN (
    SELECT i.id FROM dlq_letterrunitem i JOIN dashboard_run r ON r.id = i.run_id
    WHERE i.is_active AND r.state IN ('finished', 'cancelled', 'failed')
    ORDER BY i.id LIMIT %s
)
"""


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


def release_ended() -> None:
    for _ in range(MOST_RELEASES):
        with connection.cursor() as cursor:
            cursor.execute(RELEASE, [RELEASE_SIZE])
            if cursor.rowcount < RELEASE_SIZE:
                return
