"""Exports as CSV, streamed."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

# A spreadsheet takes a cell that begins with one of these for a formula and runs it.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


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
