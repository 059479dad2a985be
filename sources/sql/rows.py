"""From a foreign row to a letter: columns, values from inside the payload, the error's type from its trace."""

import json
from datetime import UTC, datetime
from typing import Any

from psycopg.sql import SQL, Composable, Identifier

from sources.base import ForeignLetter, ForeignState
from sources.sql.mapping import VALUES, Mapping
from sources.tracebacks import find_error_type

UNKNOWN_CONSUMER = "unknown"
# So many of the values are the state.
STATE_LENGTH = 5


def list_values(mapping: Mapping) -> list[Composable]:
    """What to select, in this order: the state first, then the rest."""
    return [
        as_text(mapping.key),
        as_text(mapping.status) if mapping.status else SQL("''"),
        Identifier(mapping.failed_at),
        Identifier(mapping.attempts) if mapping.attempts else SQL("1"),
        as_text(mapping.closed_by) if mapping.closed_by else SQL("''"),
        Identifier(mapping.payload),
        Identifier(mapping.first_failed_at) if mapping.first_failed_at else SQL("NULL"),
        *(as_text(getattr(mapping, name)) for name in list_columns(mapping)),
    ]


def list_columns(mapping: Mapping) -> list[str]:
    """The values that are columns."""
    return [name for name in VALUES if getattr(mapping, name) and not getattr(mapping, name).startswith("$")]


def as_text(column: str) -> Composable:
    return SQL("{}::text").format(Identifier(column))


def make_state(row: tuple[Any, ...]) -> ForeignState:
    key, status, failed_at, attempts, closed_by = row[:STATE_LENGTH]
    return ForeignState(key, status or "", as_time(failed_at), int(attempts or 1), closed_by or "")


def make_letter(mapping: Mapping, row: tuple[Any, ...]) -> ForeignLetter:
    state, payload, first_failed_at = make_state(row), *row[STATE_LENGTH : STATE_LENGTH + 2]
    values: dict[str, str] = dict(zip(list_columns(mapping), row[STATE_LENGTH + 2 :], strict=True))
    document = parse(payload)
    for name in VALUES:
        path = getattr(mapping, name)
        if path.startswith("$"):
            values[name] = find_text(document, path)
    found = {name: value or "" for name, value in values.items()}
    message, trace = found.get("error_message", ""), found.get("stacktrace", "")
    return ForeignLetter(
        key=state.key,
        status=state.status,
        failed_at=state.failed_at,
        attempts=state.attempts,
        consumer=found.get("consumer") or mapping.consumer_name or UNKNOWN_CONSUMER,
        event_id=found.get("event_id") or state.key,
        event_type=found.get("event_type", ""),
        payload=payload,
        error_type=found.get("error_type") or find_error_type(trace, message),
        error_message=message,
        stacktrace=trace,
        first_failed_at=as_time(first_failed_at) if first_failed_at else None,
        sequence_key=found.get("sequence", ""),
        sequence_no=as_number(found.get("sequence_no", "")),
        trace_id=found.get("trace", ""),
        tenant=found.get("tenant", ""),
        app_version=found.get("version", ""),
    )


def parse(payload: Any) -> Any:
    """The payload as a document; None if it is none."""
    if isinstance(payload, str | bytes):
        try:
            return json.loads(payload)
        except (ValueError, RecursionError):
            return None
    return payload


def find_text(document: Any, path: str) -> str:
    """The value at a path such as $.order.id; empty if there is none."""
    for step in path.removeprefix("$.").split("."):
        document = document.get(step) if isinstance(document, dict) else None
    return "" if document is None else document if isinstance(document, str) else json.dumps(document)


def as_number(value: str) -> int | None:
    return int(value) if value.isascii() and value.lstrip("-").isdigit() else None


def as_time(value: datetime | None) -> datetime:
    """A row without a time failed at the beginning of time: nothing is newer than what is known of it."""
    if value is None:
        return datetime(1970, 1, 1, tzinfo=UTC)
    return value if value.tzinfo else value.replace(tzinfo=UTC)
