"""Appending one event a transaction and 100, by 1 and 8 writers, against a plain INSERT: the price of order."""

import argparse
import multiprocessing
import time
from collections.abc import Callable
from uuid import uuid4

from django.db import connection, transaction

from bench.report import Bar, report
from projections.store import NewEvent, append
from projections.store.append import encode

# What the store would be with serial ids: the same columns and indexes, and readers that miss late commits.
PLAIN_TABLE = """
CREATE TABLE bench_plain (
    position bigserial PRIMARY KEY, event_id uuid UNIQUE, stream text, version bigint, type text, type_no bigint,
    data jsonb, metadata jsonb, recorded_at timestamptz, UNIQUE (stream, version));
CREATE INDEX ON bench_plain (type, position)
"""
PLAIN_INSERT = """
INSERT INTO bench_plain (event_id, stream, version, type, type_no, data, metadata, recorded_at)
SELECT id, %s, %s + n, 'Paid', n, data, '{}', clock_timestamp()
FROM unnest(%s::uuid[], %s::jsonb[]) WITH ORDINALITY AS e(id, data, n)
"""
DATA = {"order": "ord_8812", "amount": 1250, "currency": "EUR", "lines": [{"sku": "A-1", "count": 2}]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3)
    seconds = parser.parse_args().seconds
    with connection.cursor() as cursor:
        cursor.execute(PLAIN_TABLE)
    figures = {}
    for writers in (1, 8):
        for size in (1, 100):
            for name, write in (("append", write_events), ("plain", write_plainly)):
                figures[f"{name}_{writers}x{size}"] = round(measure(write, writers, size, seconds))
    shares = {
        f"share_of_plain_{case}": Bar(figures[f"append_{case}"] / figures[f"plain_{case}"])
        for case in ("1x1", "1x100", "8x1", "8x100")
    }
    report("append", shares, events_per_second=figures)


def measure(write: Callable[[str, int, int], None], writers: int, size: int, seconds: float) -> float:
    """Events a second of all writers together, each a process of its own."""
    connection.close()
    context = multiprocessing.get_context("fork")
    counts = context.Queue()
    processes = [
        context.Process(target=keep_writing, args=(write, size, seconds, counts)) for _ in range(writers)
    ]
    for process in processes:
        process.start()
    total = sum(counts.get() for _ in processes)
    for process in processes:
        process.join()
    return float(total / seconds)


def keep_writing(
    write: Callable[[str, int, int], None], size: int, seconds: float, counts: "multiprocessing.Queue[int]"
) -> None:
    stream, count = str(uuid4()), 0
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        write(stream, count, size)
        count += size
    counts.put(count)


def write_events(stream: str, count: int, size: int) -> None:
    append(stream, [NewEvent("Paid", DATA) for _ in range(size)], expected_version=count)


def write_plainly(stream: str, count: int, size: int) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        ids, data = [uuid4() for _ in range(size)], [encode(DATA) for _ in range(size)]
        cursor.execute(PLAIN_INSERT, [stream, count, ids, data])
