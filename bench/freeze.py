"""Previewing and freezing a million letters: seconds, memory, letters written to, against a bare INSERT … SELECT."""

import argparse
import resource
import time
from uuid import uuid4

from django.db import connection

from bench.ledger import projections as ledger
from bench.report import Bar, report
from dlq.filters import LetterFilter
from dlq.operations import start_replay
from dlq.queries.replay import preview_replay
from dlq.replay.options import ReplayOptions
from dlq.selection import select_matching

MAKE_LETTERS = """
INSERT INTO dlq_deadletter (
    source, source_key, consumer, event_id, event_type, sequence_key, sequence_no, position, topic, error_type, summary,
    mask_key, category, classified_by, is_security, offers_replay, attempts, replays, first_failed_at, last_failed_at,
    status, tier, resolution, closed_by, close_reason, trace_id, tenant, app_version, recorded_at)
SELECT 'native', '', 'ledger-1', n, 'Paid', 'acc-' || n / 10, n %% 10 + 1, n, '', 'Oops', 'no',
       0, 'transient', '', false, true, 1, 0, now(), now(),
       CASE WHEN n %% 10 = 0 THEN 'failed' ELSE 'parked' END, 'dead_letter', '', '', '', '', '', '', now()
FROM generate_series(0, %s - 1) AS n
"""
BARE = """
INSERT INTO dlq_letterrunitem (run_id, lane, letter_id, outcome, is_active)
SELECT 0, 0, id, '', false FROM dlq_deadletter WHERE status IN ('failed', 'parked')
"""
LETTERS_WRITTEN = "SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'dlq_deadletter'"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--letters", type=int, default=1_000_000)
    letters = parser.parse_args().letters
    assert ledger.LedgerOne.name == "ledger-1"
    with connection.cursor() as cursor:
        cursor.execute(MAKE_LETTERS, [letters])
        cursor.execute("ANALYZE")
    form = LetterFilter({"consumer": "ledger-1"}, user=None)
    assert form.is_valid()
    selection = select_matching(form)
    before = memory_mb()
    began = time.perf_counter()
    found = preview_replay(selection)
    previewed = time.perf_counter()
    start_replay(
        selection, confirmed=found.count, options=ReplayOptions(), actor="bench", request_key=uuid4()
    )
    frozen = time.perf_counter()
    grown = memory_mb() - before
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(LETTERS_WRITTEN)
        [written] = cursor.fetchone()
        bare = time.perf_counter()
        cursor.execute(BARE)
        bare = time.perf_counter() - bare
    seconds = {"preview": previewed - began, "freeze": frozen - previewed, "bare_insert": bare}
    bars = {
        "vs_bare_insert": Bar((frozen - previewed) / bare),
        "letters_written": Bar(written, most=0),
        "memory_grown_mb": Bar(grown, most=50),
    }
    rounded = {name: round(value, 2) for name, value in seconds.items()}
    report("freeze", bars, letters=found.count, seconds=rounded)


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
