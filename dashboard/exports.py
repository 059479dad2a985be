"""Exports, streamed: rows as they are read, and CSV as it is written."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)

# Whoever stops reading their download must not keep Postgres from clearing up behind everybody else.
STALLED = "SET LOCAL idle_in_transaction_session_timeout = '60s'"
# A spreadsheet takes a cell that begins with one of these for a formula and runs it.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def stream_rows(rows: QuerySet[Row], *, size: int) -> Iterator[Row]:
    """The rows, so many at a time, all as they are at one moment.

    In a transaction: for a cursor outside of one Postgres writes all rows down before it gives the first, and of
    millions that takes longer than a page may.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(STALLED)
        yield from rows.iterator(chunk_size=size)


class Echo:
    """A file that gives back what is written to it; csv needs something to write to."""

    def write(self, text: str) -> str:
        return text


def write_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The lines of a CSV file, one at a time; cells are text to a spreadsheet whatever they hold."""
    writer = csv.writer(Echo())
    yield writer.writerow(header)
    for row in rows:
        yield writer.writerow([safe_cell(cell) for cell in row])


def safe_cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
