"""Queue-Keeper's FailedEventRecord, alone or in the StoredWebhook in which it really lands on the disk."""

from typing import Any

from dlq.api import Failure
from sources.push.errors import BadItemError
from sources.push.fields import Number, Text, Time, need_field, read_field, to_bytes
from sources.push.items import Item, read_line

# No event goes to so many bots; a record that seems to would become as many copies of its event.
MOST_QUEUES = 100
# Who failed if no queue is named: the event found no way.
ROUTER = "queue-keeper"
READ = frozenset(
    {
        "event_id",
        "event",
        "failed_queues",
        "retry_attempts",
        "first_attempt_at",
        "moved_to_dlq_at",
        "correlation_id",
    }
)


def is_record(item: Item) -> bool:
    return {"event", "failed_queues", "moved_to_dlq_at"} <= item.values.keys()


def is_stored(item: Item) -> bool:
    payload = item.values.get("payload")
    return isinstance(payload, dict) and "body" in payload and "metadata" in item.values


def read_stored(item: Item, source: str) -> list[Failure]:
    try:
        body = to_bytes(item.values["payload"]["body"])
    except (TypeError, ValueError):
        raise BadItemError("payload.body is not an array of bytes.") from None
    record = read_line(body)
    if isinstance(record, BadItemError):
        raise BadItemError(f"payload.body: {record}")
    if not is_record(record):
        raise BadItemError("payload.body is not a FailedEventRecord; a webhook that did not fail has none.")
    return read_record(record, source)


def read_record(item: Item, source: str) -> list[Failure]:
    """A letter for each queue that the event did not reach."""
    event, reason, queues = (item.values.get(name) for name in ("event", "reason", "failed_queues"))
    if not isinstance(event, dict):
        raise BadItemError("event is not an object.")
    if not isinstance(reason, dict) or not isinstance(reason.get("type"), str):
        raise BadItemError("reason has no type.")
    if not isinstance(queues, list) or len(queues) > MOST_QUEUES:
        raise BadItemError(f"failed_queues is not an array of up to {MOST_QUEUES} queues.")
    same = {
        "source": source,
        "event_id": need_field(item, "event_id", Text()),
        "event_type": text_of(event, "event_type", "event"),
        "sequence_key": text_of(event, "session_id", "event"),
        # What was to be put on the queue.
        "payload": item.get_json("event"),
        # Why, and what it did reach.
        "headers": {name: text for name, text in item.texts.items() if name not in READ},
        "error_type": reason["type"],
        "failed_at": need_field(item, "moved_to_dlq_at", Time()),
        "first_failed_at": read_field(item, "first_attempt_at", Time()),
        # The first try is not a retry.
        "attempts": (read_field(item, "retry_attempts", Number(0, 999_999)) or 0) + 1,
        "trace_id": read_field(item, "correlation_id", Text()) or "",
    }
    if not queues:
        message = text_of(reason, "error", "reason") or text_of(reason, "reason", "reason")
        return [Failure(**same, consumer=ROUTER, error_message=message, category="permanent")]
    return [Failure(**same, **read_queue(queue)) for queue in queues]


def read_queue(queue: Any) -> dict[str, Any]:
    if (
        not isinstance(queue, dict)
        or not isinstance(queue.get("bot_name"), str)
        or not queue["bot_name"].strip()
    ):
        raise BadItemError("failed_queues has one without bot_name.")
    bot, name = queue["bot_name"], text_of(queue, "queue_name", "failed_queues")
    return {
        # Whatever else failed beside it, so that it is the same letter when it is reported again.
        "consumer": f"{bot}/{name}" if name else bot,
        "topic": name,
        "error_message": text_of(queue, "error", "failed_queues"),
        "category": "transient" if queue.get("was_transient") is True else "permanent",
    }


def text_of(values: dict[str, Any], name: str, where: str) -> str:
    """The text, or nothing if it is null or not there."""
    value = values.get(name)
    if value is not None and not isinstance(value, str):
        raise BadItemError(f"{where}.{name} is not text.")
    return value or ""
