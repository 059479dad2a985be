"""What the overview costs on a million letters, over HTTP and with nothing remembered between requests.

In one run on one server, the whole page against the same page on 500 letters (`vs_small_table`), and its figures of
the letters against the same by GROUP BY on the letters and their attempts (`vs_group_by`): open letters by category,
error type and tier, the oldest, failures by category over a day, how many were open at each half hour, the distribution
of attempts, what replays did, and the worst groups. `group_by_vs_page` is that SQL alone over our whole page, with its
projections, breakers, runs and HTML.
"""

import argparse
from typing import Any

from django.contrib.auth.models import User
from django.db import connection

from bench.http import copy_database, make_session, serving
from bench.letters import OPEN_SHARE, fill
from bench.report import Bar, in_turns, report
from dashboard.overview.figures import RANGES
from dlq.needs import GROWING, SHOWN
from dlq.queries.groups import find_worst
from dlq.queries.overview import count_recent, cut, get_history, get_open
from dlq.sampling import ATTEMPT_BOUNDS, take_sample

SMALL = 500
DAY = RANGES["24h"]
WSGI = "bench.forgetful_wsgi"

# Beat's samples of a week, as every console has them whatever its size.
SAMPLES = """
INSERT INTO dlq_depthsample (at, open_count, by_attempts)
SELECT at, 1000, '{"1": 1000}'
FROM generate_series(date_bin('5 minutes', now(), 'epoch') - interval '7 days', now(), interval '5 minutes') AS at
ON CONFLICT DO NOTHING
"""

GROUP_BY = {
    "open": "SELECT category, error_type, tier, count(*) FROM dlq_deadletter WHERE status = 'failed' GROUP BY 1, 2, 3",
    "oldest": "SELECT min(last_failed_at) FROM dlq_deadletter WHERE status = 'failed'",
    "failures": """
        SELECT date_bin(%(step)s, at, %(start)s), category, count(*) FROM dlq_attempt
        WHERE outcome = 'failed' AND at >= %(start)s GROUP BY 1, 2
    """,
    # Every letter that came and every one that went, summed up to each half hour.
    "depth": """
        SELECT slot, sum(sum(change)) OVER (ORDER BY slot) FROM (
            SELECT date_bin(%(step)s, greatest(first_failed_at, %(start)s), %(start)s) AS slot, 1 AS change
            FROM dlq_deadletter
            UNION ALL
            SELECT date_bin(%(step)s, greatest(closed_at, %(start)s), %(start)s), -1
            FROM dlq_deadletter WHERE closed_at IS NOT NULL
        ) AS changes GROUP BY slot
    """,
    "attempts": """
        SELECT width_bucket(attempts, %(bounds)s::int[]), count(*) FROM dlq_deadletter
        WHERE status = 'failed' GROUP BY 1
    """,
    "replays": """
        SELECT date_bin(%(step)s, at, %(start)s), outcome, count(*) FROM dlq_attempt
        WHERE run_id IS NOT NULL AND at >= %(start)s GROUP BY 1, 2
    """,
    "groups": """
        SELECT group_id, count(*) FILTER (WHERE status = 'failed') AS open_count, min(first_failed_at),
               max(last_failed_at)
        FROM dlq_deadletter GROUP BY 1 ORDER BY 2 DESC LIMIT 3
    """,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    asked = parser.parse_args()
    session = make_session(User.objects.create_superuser("bench"))
    # Half of the few are open, so that there too the page has something to show.
    prepare(SMALL, open_share=0.5)
    with (
        serving(session, database=copy_database("small"), wsgi=WSGI) as few,
        serving(session, wsgi=WSGI) as many,
    ):
        prepare(asked.rows)
        check_figures()
        pages = {
            name: in_turns(lambda: few.get(f"/?range={name}"), lambda: many.get(f"/?range={name}"))  # noqa: B023
            for name in RANGES
        }
        by_group, ours, page = in_turns(group_by, get_figures, lambda: many.get("/"))
    figures = {
        "page_small": pages["24h"][0],
        "page": pages["24h"][1],
        "page_7d_small": pages["7d"][0],
        "page_7d": pages["7d"][1],
        "group_by": by_group,
        "our_figures": ours,
    }
    bars = {
        "vs_group_by": Bar(by_group / ours, least=30),
        "group_by_vs_page": Bar(by_group / page),
        "vs_small_table": Bar(max(large / small for small, large in pages.values()), most=1.5),
    }
    milliseconds = {name: round(seconds * 1000, 2) for name, seconds in figures.items()}
    report("overview", bars, rows=asked.rows, milliseconds=milliseconds)


def prepare(rows: int, open_share: float = OPEN_SHARE) -> None:
    fill(rows, open_share=open_share)
    with connection.cursor() as cursor:
        cursor.execute(SAMPLES)
    take_sample()


def get_figures() -> None:
    get_open()
    count_recent()
    get_history(cut(DAY.span, DAY.step))
    find_worst(SHOWN, GROWING)


def check_figures() -> None:
    """Both say the same, or there is nothing to compare."""
    with connection.cursor() as cursor:
        cursor.execute(GROUP_BY["open"])
        counted = sum(number for *_, number in cursor.fetchall())
    assert get_open().number == counted


def group_by() -> None:
    slots = cut(DAY.span, DAY.step)
    params: dict[str, Any] = {"start": slots.start, "step": slots.step, "bounds": ATTEMPT_BOUNDS}
    with connection.cursor() as cursor:
        for statement in GROUP_BY.values():
            cursor.execute(statement, params)
            cursor.fetchall()
