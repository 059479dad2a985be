"""The lag of 50 projections over a million events, against counting the events after each checkpoint."""

import argparse

from django.db import connection
from django.test.utils import CaptureQueriesContext

from bench.report import Bar, median_seconds, report
from projections.lag import get_lags, get_measures, recount_idle
from projections.models import Projection

# Fifty types, one of them nearly all of the time, as it is in life.
FILL = """
INSERT INTO projections_event (position, event_id, stream, version, type, type_no, data, metadata, recorded_at)
SELECT n, gen_random_uuid(), 'stream-' || n %% 10000, n / 10000 + 1, type,
       row_number() OVER (PARTITION BY type ORDER BY n), '{"amount": 1250, "currency": "EUR"}', '{}',
       now() - make_interval(secs => %(events)s - n)
FROM (SELECT n, 'Type' || CASE WHEN n %% 2 = 0 THEN 0 ELSE n %% 97 %% 50 END AS type
      FROM generate_series(1, %(events)s) AS n) AS numbered;
INSERT INTO projections_eventtype SELECT type, count(*) FROM projections_event GROUP BY type;
INSERT INTO projections_head VALUES (1, %(events)s, now());
ANALYZE projections_event
"""
COUNT = "SELECT count(*) FROM projections_event WHERE position > %s"
COUNT_TYPES = "SELECT count(*) FROM projections_event WHERE position > %s AND type = ANY(%s)"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=1_000_000)
    events = parser.parse_args().events
    with connection.cursor() as cursor:
        cursor.execute(FILL, {"events": events})
    rows = [
        Projection(
            name=f"projection-{n}",
            position=events * n // 50,
            event_types=[f"Type{(n + k) % 50}" for k in range(4)] + ["NeverOccurred"],
        )
        for n in range(50)
    ]
    Projection.objects.bulk_create(rows)
    recount_idle()
    with CaptureQueriesContext(connection) as queries:
        measures = get_measures()
    assert [measures[row.pk].lag.events for row in rows] == count_types(rows)
    ours = median_seconds(get_lags)
    counting = median_seconds(lambda: count_all(rows), times=3, warm_up=1)
    report(
        "lag",
        {"vs_count": Bar(counting / ours, least=1000), "statements": Bar(len(queries), most=3)},
        ours_ms=round(1000 * ours, 2),
        counting_ms=round(1000 * counting, 1),
        events=events,
    )


def count_all(rows: list[Projection]) -> None:
    with connection.cursor() as cursor:
        for row in rows:
            cursor.execute(COUNT, [row.position])
            cursor.fetchone()


def count_types(rows: list[Projection]) -> list[int]:
    counts = []
    with connection.cursor() as cursor:
        for row in rows:
            cursor.execute(COUNT_TYPES, [row.position, row.event_types])
            counts.append(cursor.fetchone()[0])
    return counts
