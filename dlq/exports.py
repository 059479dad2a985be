"""Letters as CSV and NDJSON, row by row through the masker, so that an export tells no more than the page."""

import json
from collections.abc import Iterator
from typing import Any

from dashboard.exports import stream_rows, write_csv
from dlq.filters import LetterFilter
from dlq.masking import Masker
from dlq.models import DeadLetter

COLUMNS = (
    "id",
    "source",
    "consumer",
    "event_id",
    "event_type",
    "status",
    "tier",
    "category",
    "error_type",
    "error",
    "attempts",
    "replays",
    "first_failed_at",
    "last_failed_at",
    "sequence_key",
    "sequence_no",
    "trace_id",
    "tenant",
    "app_version",
    "topic",
    "partition",
    "offset",
    "group",
    "resolution",
    "closed_by",
    "closed_at",
    "close_reason",
    "payload",
)
# Rows fetched at a time, by a cursor on the server.
CHUNK = 500


def export_csv(letter_filter: LetterFilter) -> Iterator[str]:
    rows = (describe(letter, letter_filter.masker) for letter in list_all(letter_filter))
    return write_csv(COLUMNS, ([row[name] for name in COLUMNS] for row in rows))


def export_ndjson(letter_filter: LetterFilter) -> Iterator[str]:
    for letter in list_all(letter_filter):
        yield json.dumps(describe(letter, letter_filter.masker), ensure_ascii=False, default=str) + "\n"


def list_all(letter_filter: LetterFilter) -> Iterator[DeadLetter]:
    newest_first = letter_filter.matching().select_related("body").order_by("-last_failed_at", "-pk")
    return stream_rows(newest_first, size=CHUNK)


def describe(letter: DeadLetter, masker: Masker) -> dict[str, Any]:
    """The row of an export; the payload as text, since not every payload is JSON."""
    masked = masker.letter(letter)
    special = {"group": letter.group_id, "error": masked.error_message, "payload": masked.payload_text}
    return {name: special[name] if name in special else getattr(letter, name) for name in COLUMNS}
