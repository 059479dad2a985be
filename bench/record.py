"""Letters recorded per second, in batches of 500, into a table that holds a million.

Against the ORM as people write it (a group looked up or made, a letter, its body and its try created), and against
a bare COPY of the same rows into the same tables, which neither classifies, groups, counts nor finds duplicates.
"""

import argparse
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from bench.letters import fill
from bench.report import Bar, report
from dlq.api import Failure, record_failures
from dlq.compaction import compact
from dlq.models import Attempt, DeadLetter, FailureGroup, LetterBody

BATCH = 500
TRACE = "Traceback (most recent call last):\n" + "".join(
    f'  File "/app/{place}.py", line {n}, in step_{n}\n    self.step({n})\n'
    for n, place in enumerate(
        ["shop/run", "lib/python3.11/asyncio/base", "shop/handlers", "site-packages/db/core"] * 6
    )
)
TABLES = [
    (model._meta.db_table, key, [str(field.column) for field in model._meta.concrete_fields])
    for model, key in ((DeadLetter, "id"), (LetterBody, "letter_id"), (Attempt, "letter_id"))
]
# Far above any id that the tables give out themselves.
NEW_IDS = 10_000_000_000
CopyRows = tuple[str, list[str], list[tuple[Any, ...]]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--batches", type=int, default=20)
    asked = parser.parse_args()
    fill(asked.rows)
    ours = rate(lambda n: record_failures(failures("ours", n)), asked.batches)
    while compact():
        pass
    orm = rate(lambda n: create_with_orm(failures("orm", n)[:50]), 4, size=50)
    rows = [read_rows(n) for n in range(asked.batches + 1)]
    copied = rate(lambda n: copy_rows(rows[n]), asked.batches)
    bars = {"vs_orm_create": Bar(ours / orm, least=10), "vs_copy": Bar(ours / copied, least=0.15)}
    report(
        "record",
        bars,
        rows=asked.rows,
        letters_per_second=round(ours),
        orm_per_second=round(orm),
        copy_per_second=round(copied),
    )


def rate(record: Callable[[int], Any], batches: int, size: int = BATCH) -> float:
    """Letters per second; the first batch is not counted."""
    record(0)
    began = time.perf_counter()
    for n in range(1, batches + 1):
        record(n)
    return batches * size / (time.perf_counter() - began)


def failures(who: str, batch: int) -> list[Failure]:
    now = timezone.now()
    return [
        Failure(
            consumer=f"consumer-{n % 20}",
            event_id=f"{who}-{batch}-{n}",
            event_type=f"Type{n % 40}",
            error_type=f"Error{n % 30}",
            error_message=f"order {batch * BATCH + n} of customer 'c{n}' was refused: total -{n}.5 is negative",
            stacktrace=f"{TRACE}Error{n % 30}: order {n}\n",
            payload={"order": {"id": n, "total": -n, "lines": [{"sku": f"s{i}", "n": i} for i in range(10)]}},
            sequence_key=f"order-{n}",
            sequence_no=batch,
            failed_at=now - timedelta(milliseconds=n),
            app_version="1.8.0",
        )
        for n in range(BATCH)
    ]


def create_with_orm(given: list[Failure]) -> None:
    for failure in given:
        with transaction.atomic():
            group, _ = FailureGroup.objects.get_or_create(
                fingerprint=f"orm-{failure.consumer}-{failure.error_type}",
                defaults={
                    "consumer": failure.consumer,
                    "error_type": failure.error_type,
                    "category": "permanent",
                },
            )
            now = timezone.now()
            letter, _ = DeadLetter.objects.get_or_create(
                source="native",
                consumer=failure.consumer,
                event_id=failure.event_id,
                defaults={
                    "event_type": failure.event_type,
                    "error_type": failure.error_type,
                    "summary": failure.error_message,
                    "category": "permanent",
                    "group": group,
                    "sequence_key": failure.sequence_key,
                    "first_failed_at": now,
                    "last_failed_at": now,
                    "recorded_at": now,
                },
            )
            LetterBody.objects.create(
                letter=letter,
                payload=failure.payload,
                error_message=failure.error_message,
                stacktrace=failure.stacktrace,
            )
            Attempt.objects.create(letter=letter, at=now, error_type=failure.error_type, group=group)


def read_rows(batch: int) -> list[CopyRows]:
    """The rows that we recorded for a batch, as COPY wants them, under new ids."""
    prefix = f"ours-{batch}-"
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM dlq_deadletter WHERE starts_with(event_id, %s)", [prefix])
        ids = [row[0] for row in cursor.fetchall()]
        return [(table, columns, read(cursor, table, key, columns, ids)) for table, key, columns in TABLES]


def read(cursor: Any, table: str, key: str, columns: list[str], ids: list[int]) -> list[tuple[Any, ...]]:
    new = {"id": f"id + {NEW_IDS}", "letter_id": f"letter_id + {NEW_IDS}", "event_id": "'copy-' || event_id"}
    values = ", ".join(new.get(column, f'"{column}"::text') for column in columns)
    cursor.execute(f"SELECT {values} FROM {table} WHERE {key} = ANY(%s)", [ids])  # noqa: S608 - our own names
    return list(cursor.fetchall())


def copy_rows(rows: list[CopyRows]) -> None:
    """COPY and nothing else: the triggers are off."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for table, columns, values in rows:
            quoted = ", ".join(f'"{column}"' for column in columns)
            with cursor.copy(f"COPY {table} ({quoted}) FROM STDIN") as copy:
                for row in values:
                    copy.write_row(row)
