"""The parts of a letter's row: the event, the error and the verdict, cleaned."""

from base64 import b64encode
from operator import attrgetter
from traceback import format_exception
from typing import Any

from django.utils.crypto import salted_hmac

from dlq.classification import Verdict
from dlq.cleaning import Payload, clean_headers, clean_name, clean_names, clean_number, clean_text, to_text
from dlq.fingerprints import find_error_type
from dlq.recording.failure import Event, Failure

Row = dict[str, Any]

UNNAMED = "Error"
NAMES = (
    *("source", "source_key", "consumer", "event_id", "event_type", "sequence_key"),
    *("topic", "trace_id", "tenant", "app_version"),
)
pick_names = attrgetter(*NAMES)


def describe_event(event: Event, payload: Payload) -> Row:
    letter: Row = dict(zip(NAMES, clean_names(pick_names(event)), strict=True))
    numbers = [clean_number(number, 64) for number in (event.sequence_no, event.position, event.offset)]
    _, position, offset = numbers
    letter |= {
        "event_id": letter["event_id"] or stand_in_id(event, payload),
        "sequence_no": next((number for number in numbers if number is not None), 0),
        "position": position,
        "partition": clean_number(event.partition, 32),
        "offset": offset,
        "payload": payload.document,
        "payload_raw": encode(payload.raw) if payload.raw is not None else None,
        "payload_size": payload.size,
        "headers": clean_headers(event.headers),
    }
    return letter


def stand_in_id(event: Event, payload: Payload) -> str:
    """Where it came from, or else a hash of its bytes: keyed, so that nobody can guess masked values by hashing."""
    if event.topic and event.offset is not None:
        return clean_name(f"{event.topic}:{event.partition or 0}:{event.offset}")
    data = payload.raw if payload.raw is not None else (payload.document or "").encode()
    return salted_hmac("dlq.event_id", data, algorithm="sha256").hexdigest()


def describe_error(failure: Failure) -> tuple[str, str, str]:
    """Type, message and stack trace; a type is always known, if only as "Error"."""
    error = failure.error
    if error is None:
        error_type, message, stacktrace = failure.error_type, failure.error_message, failure.stacktrace
    else:
        error_type = failure.error_type or type(error).__name__
        message = failure.error_message or to_text(error)
        stacktrace = failure.stacktrace or "".join(format_exception(error))
    stacktrace = clean_text(stacktrace)
    name = clean_name(error_type).strip() or find_error_type(stacktrace) or UNNAMED
    return name, clean_text(message), stacktrace


def describe_verdict(verdict: Verdict) -> Row:
    return {
        "category": verdict.category.value,
        "classified_by": verdict.rule,
        "is_security": verdict.is_security,
        "offers_replay": verdict.offers_replay,
        "tier": verdict.tier.value,
    }


def encode(raw: bytes) -> str:
    return b64encode(raw).decode()
