"""Beat's look at the open letters: how many there are, for the chart of the depth, after how many attempts, and what
is parked behind nothing.
"""

from datetime import datetime

from django.db import connection

# The fewest attempts of each bar of the distribution; 0: whoever sent the letter did not say.
ATTEMPT_BOUNDS = [0, 1, 2, 3, 4, 6, 11]

# The count comes from the counters; the others take a look at every open letter, which a page must not. What a run has
# in hand is not left: it will be handled, or closed.
TAKE_SAMPLE = """
WITH heads AS (
    SELECT DISTINCT source, consumer, sequence_key FROM dlq_deadletter WHERE status = 'failed' AND sequence_key <> ''
), left_parked AS (
    SELECT count(DISTINCT (source, consumer, sequence_key)) AS number, min(p.id) AS letter_id
    FROM dlq_deadletter p LEFT JOIN heads USING (source, consumer, sequence_key)
    WHERE p.status = 'parked' AND heads.source IS NULL
        AND NOT EXISTS (SELECT FROM dlq_letterrunitem i WHERE i.letter_id = p.id AND i.is_active)
)
INSERT INTO dlq_depthsample AS kept (at, open_count, by_attempts, left_count, left_letter_id)
SELECT date_bin('5 minutes', coalesce(%(at)s, now()), 'epoch'),
    (SELECT coalesce(sum(number), 0) FROM dlq_counted WHERE status = 'failed'),
    (
        SELECT coalesce(jsonb_object_agg(bound, number), '{}') FROM (
            SELECT (%(bounds)s::int[])[width_bucket(attempts, %(bounds)s::int[])] AS bound, count(*) AS number
            FROM dlq_deadletter WHERE status = 'failed' GROUP BY 1
        ) AS bars
    ),
    left_parked.number, left_parked.letter_id
FROM left_parked
ON CONFLICT (at) DO UPDATE SET open_count = excluded.open_count, by_attempts = excluded.by_attempts,
    left_count = excluded.left_count, left_letter_id = excluded.left_letter_id
"""


def take_sample(at: datetime | None = None) -> None:
    """Note how things are now; `at` says so of another moment, for whoever writes a past."""
    with connection.cursor() as cursor:
        cursor.execute(TAKE_SAMPLE, {"at": at, "bounds": ATTEMPT_BOUNDS})
