"""From a foreign row to a letter: columns, values from inside the payload, the error's type from its trace."""

import json
import re
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from psycopg.sql import SQL, Composable, Literal

from dlq.api import JsonbText, JsonText
from sources.base import ForeignLetter, ForeignState
from sources.sql.mapping import VALUES, Mapping, quote
from sources.tracebacks import find_error_type

UNKNOWN_CONSUMER = "unknown"
# No place in a sequence has more digits.
WHOLE = re.compile(r"-?[0-9]{1,19}")
MOST_ATTEMPTS = 2**31 - 1
# Infinity, and what is before or after the years that Python knows, is no time.
MOMENT = SQL("CASE WHEN {0} >= '0001-01-02' AND {0} < '9999-12-31' THEN {0} END")


class RowReader:
    """Knows what to select for a mapping, and makes letters of what comes back.

    What is inside a payload is picked out by the source itself where it holds the payload as jsonb, and here where not.
    """

    def __init__(self, mapping: Mapping, payload_type: str) -> None:
        self.mapping = mapping
        self.payload_type = payload_type
        named = {name: getattr(mapping, name) for name in VALUES if getattr(mapping, name)}
        self.columns = {name: value for name, value in named.items() if not value.startswith("$")}
        self.paths = {name: split_path(value) for name, value in named.items() if value.startswith("$")}

    @property
    def is_jsonb(self) -> bool:
        return self.payload_type == "jsonb"

    @cached_property
    def letter(self) -> list[Composable]:
        mapping = self.mapping
        payload = quote(mapping.payload)
        return [
            *list_state(mapping),
            as_text(mapping.payload),
            as_moment(mapping.first_failed_at) if mapping.first_failed_at else SQL("NULL"),
            *(as_text(column) for column in self.columns.values()),
            *(
                SQL("{} #>> {}").format(payload, Literal(list(steps)))
                for steps in self.paths.values()
                if self.is_jsonb
            ),
        ]

    def make_letter(self, row: tuple[Any, ...]) -> ForeignLetter:
        key, status, failed_at, attempts, _, text, first_failed_at, *values = row
        found: dict[str, str | None] = dict(zip([*self.columns, *self.paths], values, strict=False))
        payload = read_payload(self.payload_type, text)
        if self.paths and not self.is_jsonb:
            document = parse(payload)
            found |= {name: find_text(document, steps) for name, steps in self.paths.items()}
        get = found.get
        message, trace = get("error_message") or "", get("stacktrace") or ""
        return ForeignLetter(
            key=key,
            status=status or "",
            failed_at=as_time(failed_at),
            attempts=as_count(attempts),
            consumer=get("consumer") or self.mapping.consumer_name or UNKNOWN_CONSUMER,
            event_id=get("event_id") or key,
            event_type=get("event_type") or "",
            payload=payload,
            error_type=get("error_type") or find_error_type(trace, message),
            error_message=message,
            stacktrace=trace,
            first_failed_at=as_time(first_failed_at) if first_failed_at else None,
            sequence_key=get("sequence") or "",
            sequence_no=self.find_place(key, as_time(first_failed_at or failed_at), get("sequence_no") or ""),
            trace_id=get("trace") or "",
            tenant=get("tenant") or "",
            app_version=get("version") or "",
        )

    def find_place(self, key: str, failed_at: datetime, number: str) -> int | None:
        """Its number in its sequence; where the table has none, the order of its keys, or else of the failures."""
        if self.mapping.sequence_no:
            return as_number(number)
        place = as_number(key)
        return int(failed_at.timestamp() * 1_000_000) if place is None else place


def list_state(mapping: Mapping) -> list[Composable]:
    return [
        as_text(mapping.key),
        as_text(mapping.status) if mapping.status else SQL("''"),
        as_moment(mapping.failed_at),
        quote(mapping.attempts) if mapping.attempts else SQL("1"),
        as_text(mapping.closed_by) if mapping.closed_by else SQL("''"),
    ]


def make_state(row: tuple[Any, ...]) -> ForeignState:
    key, status, failed_at, attempts, closed_by = row
    return ForeignState(key, status or "", as_time(failed_at), as_count(attempts), closed_by or "")


def as_text(column: str) -> Composable:
    return SQL("{}::text").format(quote(column))


def as_moment(*column: str) -> Composable:
    return MOMENT.format(quote(*column))


def read_payload(payload_type: str, text: str | None) -> str | bytes | None:
    """A document, or a message as text or bytes, as it was held there."""
    if text is None:
        return None
    if payload_type == "jsonb":
        return JsonbText(text)
    if payload_type == "json":
        return JsonText(text)
    return bytes.fromhex(text[2:]) if payload_type == "bytea" else text


def parse(payload: str | bytes | None) -> Any:
    """The payload as a document; None if it is none."""
    try:
        return json.loads(payload or "null")
    except (ValueError, RecursionError):
        return None


def split_path(path: str) -> tuple[str, ...]:
    return tuple(path.removeprefix("$.").split("."))


def find_text(document: Any, steps: tuple[str, ...]) -> str:
    """The value at the end of the steps, as jsonb finds it; empty if there is none."""
    for step in steps:
        if isinstance(document, list):
            place = as_number(step)
            document = (
                document[place] if place is not None and -len(document) <= place < len(document) else None
            )
        else:
            document = document.get(step) if isinstance(document, dict) else None
    return "" if document is None else document if isinstance(document, str) else json.dumps(document)


def as_number(value: str) -> int | None:
    """None: it is no whole number, or one that nobody counts to."""
    return int(value) if WHOLE.fullmatch(value) else None


def as_count(value: Any) -> int:
    """At least one try, and no more than can be held; a number that is none counts as one."""
    try:
        return max(1, min(int(value or 1), MOST_ATTEMPTS))
    except (ValueError, OverflowError):
        return 1


def as_time(value: datetime | None) -> datetime:
    """A row without a time failed at the beginning of time: nothing is newer than what is known of it."""
    if value is None:
        return datetime(1970, 1, 1, tzinfo=UTC)
    return value if value.tzinfo else value.replace(tzinfo=UTC)
