"""Beat's look at the open letters: how many there are, for the chart of the depth, and after how many attempts."""

from datetime import datetime

from django.db import connection

# The fewest attempts of each bar of the distribution; 0: whoever sent the letter did not say.
ATTEMPT_BOUNDS = [0, 1, 2, 3, 4, 6, 11]

# The count comes from the counters; the distribution takes a look at every open letter, which a page must not.
TAKE_SAMPLE = """
INSERT INTO dlq_depthsample AS kept (at, open_count, by_attempts)
SELECT date_bin('5 minutes', coalesce(%(at)s, now()), 'epoch'),
    (SELECT coalesce(sum(number), 0) FROM dlq_counted WHERE status = 'failed'),
    (
        SELECT coalesce(jsonb_object_agg(bound, number), '{}') FROM (
            SELECT (%(bounds)s::int[])[width_bucket(attempts, %(bounds)s::int[])] AS bound, count(*) AS number
            FROM dlq_deadletter WHERE status = 'failed' GROUP BY 1
        ) AS bars
    )
ON CONFLICT (at) DO UPDATE SET open_count = excluded.open_count, by_attempts = excluded.by_attempts
"""


def take_sample(at: datetime | None = None) -> None:
    """Note how things are now; `at` says so of another moment, for whoever writes a past."""
    with connection.cursor() as cursor:
        cursor.execute(TAKE_SAMPLE, {"at": at, "bounds": ATTEMPT_BOUNDS})
