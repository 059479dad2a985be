"""A failure in our own words: the fields of `dlq.api.Failure`, by their names."""

from typing import Any

from dlq.api import Category, Failure
from sources.push.errors import BadItemError
from sources.push.fields import (
    Anything,
    Base64,
    Choice,
    Kind,
    Number,
    Text,
    Texts,
    Time,
    need_field,
    read_field,
)
from sources.push.items import Item

WHOLE = Number(-(2**63), 2**63 - 1)

FIELDS: dict[str, tuple[Kind, str]] = {
    "consumer": (Text(), "Who failed to handle the event. Always needed."),
    "failed_at": (Time(), "When. Always needed: the same failure sent again is known by it."),
    "event_id": (Text(), "Which event; or give topic and offset, or at least the payload."),
    "event_type": (Text(), "What kind of event it is."),
    "error_type": (Text(), "The exception's name. Without it, it is read from the stack trace."),
    "error_message": (Text(), "What it said. At least one of the three about the error is needed."),
    "stacktrace": (Text(), "Where it was."),
    "payload": (Anything(), "The event: any JSON; text is taken for the message itself, and kept as it is."),
    "payload_base64": (Base64(), "The event, if it is not JSON or text; instead of payload."),
    "headers": (Texts(), "What came with the event."),
    "sequence_key": (Text(), "Events that share it are handled in order: aggregate, session, partition key."),
    "sequence_no": (WHOLE, "The event's place in its sequence."),
    "position": (WHOLE, "The event's place among all events."),
    "topic": (Text(), "Where the event was read."),
    "partition": (Number(-(2**31), 2**31 - 1), "Its partition there."),
    "offset": (WHOLE, "Its offset there."),
    "attempts": (Number(1, 1_000_000), "How often it was tried so far; 1 if it is not said."),
    "category": (
        Choice(tuple(Category.values)),
        "What you take it for; the operators' rules may know better.",
    ),
    "duration_ms": (Number(0, 2**31 - 1), "How long the try took."),
    "trace_id": (Text(), "The trace it belongs to."),
    "tenant": (Text(), "Whose event it is."),
    "app_version": (Text(), "The version of the consumer that failed."),
}
REQUIRED = ("consumer", "failed_at")
ERROR = ("error_type", "error_message", "stacktrace")


def read_failure(item: Item, source: str) -> list[Failure]:
    unknown = next((name for name in item.values if name not in FIELDS), None)
    if unknown is not None:
        raise BadItemError(
            f"{unknown[:60]!r} is not a field of a failure; the fields are {', '.join(FIELDS)}."
        )
    for name in REQUIRED:
        need_field(item, name, FIELDS[name][0])
    fields = {name: read_field(item, name, kind) for name, (kind, _) in FIELDS.items()}
    given = {name: value for name, value in fields.items() if value is not None}
    if not any(given.get(name) for name in ERROR):
        raise BadItemError(f"Nothing says what went wrong; write {', '.join(ERROR[:-1])} or {ERROR[-1]}.")
    payload = read_payload(item, given)
    given.pop("payload", None)
    given.pop("payload_base64", None)
    is_known_by_place = given.get("topic") and "offset" in given
    if not given.get("event_id") and not is_known_by_place and payload is None:
        raise BadItemError(
            "Nothing says which event it was; write event_id, or topic and offset, or the payload."
        )
    return [Failure(source=source, payload=payload, **given)]


def read_payload(item: Item, given: dict[str, Any]) -> Any:
    """Bytes and text as they are, anything else as it was written; None if there is none."""
    if "payload_base64" in given:
        if "payload" in given:
            raise BadItemError("payload and payload_base64 are both there; write one of them.")
        return given["payload_base64"]
    payload = given.get("payload")
    return payload if isinstance(payload, str) else item.get_json("payload")
