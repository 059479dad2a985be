"""The JSON schema of a request's body, made of the same table that reads it; docs/push.schema.json is a copy."""

from typing import Any

from sources.push.formats.native import ERROR, FIELDS, REQUIRED
from sources.push.items import MOST_ITEMS

FAILURE: dict[str, Any] = {
    "title": "A failure",
    "type": "object",
    "properties": {name: kind.schema | {"description": text} for name, (kind, text) in FIELDS.items()},
    "required": list(REQUIRED),
    "allOf": [
        {"anyOf": [{"required": [name]} for name in ERROR]},
        {
            "anyOf": [
                {"required": names}
                for names in (["event_id"], ["topic", "offset"], ["payload"], ["payload_base64"])
            ]
        },
        {"not": {"required": ["payload", "payload_base64"]}},
    ],
    "additionalProperties": False,
}

QUEUE_KEEPER: dict[str, Any] = {
    "title": "Queue-Keeper's FailedEventRecord: a letter for each failed queue, whose bot is the consumer",
    "type": "object",
    "properties": {
        "event_id": {"type": "string"},
        "event": {"type": "object"},
        "reason": {"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]},
        "failed_queues": {
            "type": "array",
            "items": {"type": "object", "required": ["bot_name"]},
        },
        "retry_attempts": {"type": "integer", "minimum": 0},
        "moved_to_dlq_at": {"type": "string", "format": "date-time"},
        "correlation_id": {"type": "string"},
    },
    "required": ["event_id", "event", "reason", "failed_queues", "moved_to_dlq_at"],
}

STORED: dict[str, Any] = {
    "title": "The same in Queue-Keeper's StoredWebhook, as its file holds it",
    "type": "object",
    "properties": {
        "metadata": {"type": "object"},
        "payload": {
            "type": "object",
            "properties": {
                "body": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}}
            },
            "required": ["body"],
        },
    },
    "required": ["metadata", "payload"],
}

WHOLE_OR_TEXT = {"type": ["integer", "string"]}
ESCROW_FIELDS: dict[str, Any] = {
    "originalTopic": {"type": "string"},
    "originalPartition": WHOLE_OR_TEXT,
    "originalOffset": WHOLE_OR_TEXT,
    "originalPayload": {
        "description": 'Base64, a Node buffer {"type": "Buffer", "data": […]}, or a JSON object.'
    },
    "originalEventId": {"type": "string"},
    "originalAggregateId": {"type": "string"},
    "originalEventType": {"type": "string"},
    "originalKey": {"type": "string"},
    "errorType": {"type": "string"},
    "errorMessage": {"type": "string"},
    "retryCount": WHOLE_OR_TEXT,
    "failedAt": {"type": "string", "format": "date-time"},
    "traceId": {"type": "string"},
    "correlationId": {"type": "string"},
    "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
}
ESCROW: dict[str, Any] = {
    "title": "The escrow platform's DLQMessage, whose topic is the consumer; names may also be spelled original_topic",
    "type": "object",
    "properties": ESCROW_FIELDS,
    "required": ["originalTopic", "failedAt"],
}

ITEM = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in ("failure", "queue_keeper", "stored", "escrow")]}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "What POST /api/v1/failures takes: one item, an array of items, or (application/x-ndjson) one a line",
    "anyOf": [ITEM, {"type": "array", "items": ITEM, "maxItems": MOST_ITEMS}],
    "$defs": {"failure": FAILURE, "queue_keeper": QUEUE_KEEPER, "stored": STORED, "escrow": ESCROW},
}
