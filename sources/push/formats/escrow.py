"""The escrow platform's DLQMessage as JSON: what its publisher writes, and the protobuf message in JSON's spelling.

The names come in both spellings (original_topic, originalTopic), 64-bit numbers also as text, and bytes in base64 or
as a Node buffer.
"""

import re
from typing import Any

from dlq.api import Category, Failure
from sources.push.errors import BadItemError
from sources.push.fields import Base64, Number, Text, Texts, Time, need_field, read_field, to_bytes
from sources.push.items import Item

CAPITAL = re.compile(r"[A-Z]")
WHOLE_TEXT = re.compile(r"-?[0-9]{1,19}")
INT_32, INT_64 = Number(-(2**31), 2**31 - 1), Number(-(2**63), 2**63 - 1)
READ = frozenset(
    {
        "original_topic",
        "original_partition",
        "original_offset",
        "original_payload",
        "original_event_id",
        "original_aggregate_id",
        "original_event_type",
        "original_key",
        "error_type",
        "error_message",
        "retry_count",
        "failed_at",
        "trace_id",
        "correlation_id",
        "metadata",
    }
)


def is_message(item: Item) -> bool:
    return "original_topic" in item.values or "originalTopic" in item.values


def read_message(item: Item, source: str) -> list[Failure]:
    item = Item(
        {to_snake(name): value for name, value in item.values.items()},
        {to_snake(name): text for name, text in item.texts.items()},
    )

    def text(name: str) -> str:
        return read_field(item, name, Text()) or ""

    topic = need_field(item, "original_topic", Text())
    said = text("error_type")
    category = said.lower() if said.lower() in Category.values else ""
    failure = Failure(
        source=source,
        # The message does not say who read it; whoever reads the topic did.
        consumer=topic,
        topic=topic,
        partition=read_whole(item, "original_partition", INT_32),
        offset=read_whole(item, "original_offset", INT_64),
        event_id=text("original_event_id"),
        event_type=text("original_event_type"),
        sequence_key=text("original_aggregate_id") or text("original_key"),
        payload=read_payload(item),
        headers=read_headers(item),
        error_type="" if category else said,
        error_message=text("error_message"),
        category=category,
        # The first try is not a retry.
        attempts=(read_whole(item, "retry_count", Number(0, 999_999)) or 0) + 1,
        failed_at=need_field(item, "failed_at", Time()),
        trace_id=text("trace_id") or text("correlation_id"),
    )
    if not failure.event_id and failure.offset is None and failure.payload is None:
        raise BadItemError("Nothing says which event it was; there is no event id, offset or payload.")
    return [failure]


def to_snake(name: str) -> str:
    return CAPITAL.sub(lambda capital: f"_{capital[0].lower()}", name)


def read_whole(item: Item, name: str, kind: Number) -> int | None:
    """A number, or text that is one: so JSON spells 64 bits."""
    value = item.values.get(name)
    if isinstance(value, str) and WHOLE_TEXT.fullmatch(value):
        item = Item({name: int(value)}, {name: value})
    number: int | None = read_field(item, name, kind)
    return number


def read_payload(item: Item) -> Any:
    """The bytes, or JSON as it was written; None if there is none."""
    value = item.values.get("original_payload")
    if isinstance(value, str):
        return read_field(item, "original_payload", Base64())
    if isinstance(value, dict) and value.get("type") == "Buffer":
        try:
            return to_bytes(value["data"])
        except (KeyError, TypeError, ValueError):
            raise BadItemError("original_payload is a Buffer whose data are not bytes.") from None
    return item.get_json("original_payload")


def read_headers(item: Item) -> dict[str, str]:
    """The metadata, and what else the message holds, as it was written."""
    metadata: dict[str, str] = read_field(item, "metadata", Texts()) or {}
    return metadata | {name: text for name, text in item.texts.items() if name not in READ}
