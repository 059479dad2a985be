"""A first import against reading the same rows into Python, and a sync that finds nothing new against SELECT 1.

The source is a dead_letter_queue as eventsource-py creates it, in a database of its own on the same server. The import,
made several times in turns with the reading, is the run that the console starts by itself, by two real workers; what it
is compared with is one process that reads the same rows as letters and does nothing with them (`fetch_per_second` is
what the driver alone makes of them). The idle sync looks at a million rows, of which those that were imported are open.
Both it and the SELECT 1 open a connection of their own, as every look does.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.conf import settings
from django.db import connection

from bench.letters import empty
from bench.replay import running_worker
from bench.report import Bar, in_turns, report
from dashboard.models import Run
from dashboard.runs.dispatch import tend_runs
from dlq.compaction import compact
from dlq.models import DeadLetter
from sources.models import ForeignRow, SourceState
from sources.registry import get_source
from sources.sync.looking import BATCH_SIZE
from sources.sync.sync import sync_source

WORKERS = 2
ROUNDS = 3
BEAT_SECONDS = 5
DDL = """
CREATE TABLE dead_letter_queue (
  id BIGSERIAL PRIMARY KEY, event_id UUID NOT NULL, projection_name VARCHAR(255) NOT NULL,
  event_type VARCHAR(255) NOT NULL, event_data JSONB NOT NULL, error_message TEXT NOT NULL, error_stacktrace TEXT,
  retry_count INTEGER NOT NULL DEFAULT 0, first_failed_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  last_failed_at TIMESTAMPTZ NOT NULL DEFAULT now(), status VARCHAR(20) NOT NULL DEFAULT 'failed'
  CHECK (status IN ('failed', 'retrying', 'resolved')), resolved_at TIMESTAMPTZ, resolved_by VARCHAR(255),
  CONSTRAINT uq_dlq_event_projection UNIQUE (event_id, projection_name));
CREATE INDEX idx_dlq_status ON dead_letter_queue(status);
CREATE INDEX idx_dlq_projection_status ON dead_letter_queue(projection_name, status);
CREATE INDEX idx_dlq_active_failures ON dead_letter_queue(first_failed_at) WHERE status IN ('failed', 'retrying');
"""
# Fifty kinds of failures of ten projections, with a trace of eight frames.
FILL = r"""
INSERT INTO dead_letter_queue (event_id, projection_name, event_type, event_data, error_message, error_stacktrace,
    retry_count, first_failed_at, last_failed_at, status)
SELECT gen_random_uuid(), 'Projection' || n %% 10, 'Type' || n %% 20,
    jsonb_build_object('event_id', gen_random_uuid(), 'aggregate_id', 'order-' || n / 3, 'aggregate_version', n %% 3,
        'event_type', 'Type' || n %% 20, 'correlation_id', gen_random_uuid(), 'total', n, 'customer', 'c' || n,
        'lines', (SELECT jsonb_agg(jsonb_build_object('sku', 's' || i, 'n', i)) FROM generate_series(1, 5) AS i)),
    'order ' || n || ' was refused: total -' || n || '.5 is negative',
    E'Traceback (most recent call last):\n' || repeat(E'  File "/app/shop/handlers.py", line 10, in apply\n    x\n', 8)
        || 'shop.errors.Refused' || n %% 5 || ': order ' || n || ' was refused: total -' || n || E'.5 is negative\n',
    3, now() - make_interval(secs => %(rows)s - n), now() - make_interval(secs => %(rows)s - n), %(status)s
FROM generate_series(1, %(rows)s) AS n
"""
FETCH = (
    "SELECT * FROM dead_letter_queue WHERE status IN ('failed', 'retrying') AND id > %s ORDER BY id LIMIT 500"
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--open", type=int, default=200_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    asked = parser.parse_args()
    dsn = make_source(asked.open)
    settings.SOURCES = {"shop": {"kind": "eventsource-py", "dsn": dsn}}
    fetch = asked.open / time_fetching(dsn)
    # In turns: a shared machine is not as fast in one minute as in the next.
    reading, importing = 0.0, 0.0
    for _ in range(ROUNDS):
        reading += time_reading()
        forget()
        importing += time_import(dsn, asked.open)
    read, imported = ROUNDS * asked.open / reading, ROUNDS * asked.open / importing
    with psycopg.connect(dsn, autocommit=True) as shop:
        shop.execute(FILL, {"rows": asked.rows - asked.open, "status": "resolved"})
        shop.execute("VACUUM ANALYZE")
    come_to_rest()
    idle, select = in_turns(sync_idle, lambda: select_one(dsn))
    bars = {
        "import_vs_select": Bar(imported / read, least=0.2),
        "idle_vs_select1": Bar(idle / select, most=10),
    }
    report(
        "sync",
        bars,
        rows=asked.rows,
        imported=asked.open,
        import_per_second=round(imported),
        read_per_second=round(read),
        fetch_per_second=round(fetch),
        idle_ms=round(1000 * idle, 2),
        select1_ms=round(1000 * select, 2),
    )


def make_source(number: int) -> str:
    """A database with so many open rows; gives its address."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE shop")
    parts = urlsplit(os.environ["DATABASE_URL"])
    dsn = urlunsplit(parts._replace(path="/shop"))
    with psycopg.connect(dsn, autocommit=True) as shop:
        shop.execute(DDL)
        shop.execute(FILL, {"rows": number, "status": "failed"})
        shop.execute("VACUUM ANALYZE")
    return dsn


def time_reading() -> float:
    """All open rows, as letters with the types of their errors, a batch at a time."""
    after, began = "", time.perf_counter()
    with get_source("shop").visit() as visit:
        assert visit.letters
        while rows := visit.letters.read_open(after=after, limit=BATCH_SIZE):
            after = rows[-1].key
    return time.perf_counter() - began


def time_fetching(dsn: str) -> float:
    """The same, as the driver's tuples with their payloads parsed."""
    after, began = 0, time.perf_counter()
    with psycopg.connect(dsn, autocommit=True) as shop:
        while rows := shop.execute(FETCH, [after]).fetchall():
            after = rows[-1][0]
    return time.perf_counter() - began


def time_import(dsn: str, number: int) -> float:
    """From the first look to the last letter, as the workers of a console do it."""
    with tempfile.TemporaryDirectory() as directory:
        config = Path(directory) / "redrive.toml"
        config.write_text(f'[sources.shop]\nkind = "eventsource-py"\ndsn = "{dsn}"\n')
        os.environ["REDRIVE_CONFIG"] = str(config)
        with running_worker(WORKERS):
            began = time.perf_counter()
            sync_source("shop")
            beat = began
            while Run.objects.exclude(state="finished").exists():
                if time.perf_counter() >= beat:
                    tend_runs()
                    compact()
                    beat = time.perf_counter() + BEAT_SECONDS
                time.sleep(0.1)
            seconds = time.perf_counter() - began
    assert DeadLetter.objects.count() == number
    return seconds


def forget() -> None:
    """As if this source had never been looked at."""
    empty()
    ForeignRow.objects.all().delete()
    SourceState.objects.all().delete()


def come_to_rest() -> None:
    """Until the sweep after the import is over."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    while True:
        sync_source("shop")
        state = SourceState.objects.get()
        assert not state.error, state.error
        if "swept_at" in state.cursor and "sweep" not in state.cursor:
            return


def sync_idle() -> None:
    sync_source("shop")


def select_one(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as shop:
        shop.execute("SELECT 1")
