"""Replay by real workers against a Celery task for each letter, and against one SQL statement that does the same.

Every event is one upsert into a read model that notes what comes out of order or twice; letters, attempts and items are
durable. Both ways run in one go on the same servers, with workers that are ready before the clock starts. A task costs
what it costs everybody: Celery closes Django's connection around each one, and making it anew is most of its time.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from celery import current_app
from django.db import connection

from bench.ledger import projections as ledger
from bench.report import Bar, report
from dashboard.models import Run
from dashboard.redis import get_redis
from dlq.filters import LetterFilter
from dlq.models import DeadLetter
from dlq.operations import start_replay
from dlq.queries.replay import preview_replay
from dlq.replay.options import ReplayOptions
from dlq.selection import select_matching
from projections.api import NewEvent, append

EVENTS_A_STREAM = 10
# A task for each letter is slow; so many say how slow.
TASKS = 3000
# Tasks that may still be in hand when the queue is empty.
LAST = 20
QUEUE = "replays"

MAKE_LETTERS = """
WITH added AS (
    INSERT INTO dlq_deadletter (
        source, source_key, consumer, event_id, event_type, sequence_key, sequence_no, position, topic, error_type,
        summary, mask_key, category, classified_by, is_security, offers_replay, attempts, replays, first_failed_at,
        last_failed_at, status, tier, resolution, closed_by, close_reason, trace_id, tenant, app_version, recorded_at)
    SELECT 'native', '', %(consumer)s, event_id, type, stream, version, position, '', 'Oops',
           'no', 0, 'transient', '', false, true, 1, 0, now(),
           now(), CASE WHEN version = 1 THEN 'failed' ELSE 'parked' END, 'dead_letter', '', '', '', '', '', '', now()
    FROM projections_event WHERE position <= %(number)s RETURNING id)
INSERT INTO dlq_letterbody (letter_id, payload_size, headers, error_message, stacktrace)
SELECT id, 0, '{}', '', '' FROM added
"""
# What the batch replay does, by one statement over all letters: nothing can be faster and as durable.
ALL_AT_ONCE = """
WITH l AS (
    UPDATE dlq_deadletter SET status = 'resolved', resolution = 'replayed', closed_at = now(), replays = replays + 1
    WHERE consumer = 'limit' RETURNING id, position
), a AS (
    INSERT INTO dlq_attempt (letter_id, at, outcome, error_type, error_message, category)
    SELECT id, now(), 'succeeded', '', '', '' FROM l
), i AS (
    INSERT INTO dlq_letterrunitem (run_id, lane, letter_id, outcome, is_active)
    SELECT 0, 0, id, 'succeeded', false FROM l
)
INSERT INTO bench_ledger
SELECT 'limit', stream, sum((data ->> 'amount')::bigint), max(version), count(*), 0
FROM projections_event JOIN l USING (position) GROUP BY stream
"""
CHECK = """
SELECT coalesce(sum(out_of_order), 0), coalesce(sum(applied), 0) - count(*) * %(each)s
FROM bench_ledger WHERE consumer = %(consumer)s
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--letters", type=int, default=50_000)
    letters = parser.parse_args().letters // EVENTS_A_STREAM * EVENTS_A_STREAM
    make_events(letters)
    rates, found = {}, {"out_of_order": 0, "applied_twice": 0, "lost": 0}
    for consumer, processes in (("ledger-1", 1), ("ledger-2", 2), ("ledger-batch", 2)):
        make_letters(consumer, letters)
        with running_worker(processes):
            rates[consumer] = letters / time_replay(consumer)
        check(consumer, found)
    for processes in (1, 2):
        # Only heads: tasks of one sequence would overtake each other, which is not what is measured here.
        ids = make_letters(f"tasks-{processes}", letters)[:TASKS]
        with running_worker(processes):
            rates[f"tasks-{processes}"] = len(ids) / time_tasks(ids)
    make_letters("limit", letters)
    rates["limit"] = letters / time_statement(ALL_AT_ONCE)
    bars = {
        "vs_task_per_event_1": Bar(rates["ledger-1"] / rates["tasks-1"], least=15),
        "vs_task_per_event_2": Bar(rates["ledger-2"] / rates["tasks-2"], least=20),
        "batch_vs_task_per_event_2": Bar(rates["ledger-batch"] / rates["tasks-2"], least=50),
        "share_of_limit": Bar(rates["ledger-batch"] / rates["limit"]),
        **{name: Bar(number, most=0) for name, number in found.items()},
    }
    report(
        "replay",
        bars,
        letters=letters,
        letters_per_second={name: round(rate) for name, rate in rates.items()},
    )


def make_events(number: int) -> None:
    from projections.declared import sync_declared
    from projections.models import Projection

    with connection.cursor() as cursor:
        cursor.execute(ledger.TABLE)
    for stream in range(number // EVENTS_A_STREAM):
        append(f"acc-{stream}", [NewEvent("Paid", {"amount": n}) for n in range(EVENTS_A_STREAM)])
    sync_declared()
    Projection.objects.update(position=number)


def make_letters(consumer: str, number: int) -> list[int]:
    """Every event is a letter: the first of a stream has failed, the others are parked; gives the first ones."""
    with connection.cursor() as cursor:
        cursor.execute(MAKE_LETTERS, {"consumer": consumer, "number": number})
        cursor.execute("ANALYZE")
    return list(DeadLetter.objects.filter(consumer=consumer, status="failed").values_list("pk", flat=True))


def time_replay(consumer: str) -> float:
    """Seconds from the click to the end of the run, the freeze included."""
    form = LetterFilter({"consumer": consumer}, user=None)
    assert form.is_valid()
    selection = select_matching(form)
    confirmed = preview_replay(selection).count
    options = ReplayOptions(canary=False, stop_after=None)
    began = time.perf_counter()
    run = start_replay(selection, confirmed=confirmed, options=options, actor="bench", request_key=uuid4())
    while Run.objects.get(pk=run.pk).is_active:
        time.sleep(0.02)
    return time.perf_counter() - began


def time_tasks(ids: list[int]) -> float:
    """Seconds from the first message to the last letter."""
    began = time.perf_counter()
    for letter_id in ids:
        current_app.send_task("bench.ledger.tasks.replay_one", (letter_id,), queue=QUEUE)
    # Asked of Redis until the queue is empty: counting letters all the while would slow down what is measured.
    while get_redis().llen(QUEUE):
        time.sleep(0.02)
    while DeadLetter.objects.filter(pk__in=ids[-LAST:], status="failed").exists():
        time.sleep(0.02)
    return time.perf_counter() - began


def time_statement(statement: str) -> float:
    began = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute(statement)
    return time.perf_counter() - began


def check(consumer: str, found: dict[str, int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(CHECK, {"consumer": consumer, "each": EVENTS_A_STREAM})
        out_of_order, twice = cursor.fetchone()
    found["out_of_order"] += int(out_of_order)
    found["applied_twice"] += int(twice)
    found["lost"] += DeadLetter.objects.filter(consumer=consumer).exclude(resolution="replayed").count()


@contextmanager
def running_worker(processes: int) -> Iterator[None]:
    log = Path(os.environ["BENCH_LOG"]) if "BENCH_LOG" in os.environ else Path(os.devnull)
    options = [
        "-Q",
        "replays,runs",
        "-c",
        str(processes),
        "--without-gossip",
        "--without-mingle",
        "--without-heartbeat",
    ]
    with log.open("ab") as output:
        worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "dashboard.celery", "worker", *options],
            env=os.environ | {"REDRIVE_APPS": "bench.ledger"},
            stdout=output,
            stderr=output,
        )
    try:
        # Ready when it has taken and done something.
        current_app.send_task("dashboard.tasks.run_lane", (0, 0), queue=QUEUE)
        while get_redis().llen(QUEUE) or worker.poll() is not None:
            time.sleep(0.1)
        yield
    finally:
        worker.terminate()
        worker.wait()
