"""An event of the store as the dead letters want to be told of it."""

from collections.abc import Iterator
from datetime import datetime
from traceback import format_exception
from typing import Any

from dlq.api import Failure, Parked, clean_text
from projections.models import NATIVE
from projections.runtime.hand import Hand
from projections.runtime.trial import MOST_DEATHS
from projections.store import StoredEvent

# The end of a trace is where it happened.
MOST_TRACE = 20_000

Try = dict[str, Any]


def describe_try(error: BaseException, at: datetime, duration_ms: int) -> Try:
    """A failed try in the form in which it is kept until the event's fate is known."""
    return {
        "at": at.isoformat(),
        "duration_ms": duration_ms,
        "error_type": type(error).__name__,
        "error_message": clean_text(error),
        "stacktrace": clean_text("".join(format_exception(error))[-MOST_TRACE:]),
    }


def describe_death(at: datetime) -> Try:
    return {
        "at": at.isoformat(),
        "duration_ms": None,
        "error_type": "ProcessDied",
        "error_message": f"The process died {MOST_DEATHS} times while it handled this event.",
        "stacktrace": "",
        "category": "poison",
    }


def list_failures(
    consumer: str, hand: Hand, event: StoredEvent, tries: list[Try], tried: StoredEvent | None = None
) -> Iterator[Failure]:
    """One failure for each try; together they are one letter with its attempts.

    `tried` is the event as it was handled; None: as it is in the store.
    """
    for number, one in enumerate(tries, start=1):
        yield Failure(
            **describe_event(consumer, event),
            payload=(tried or event).data,
            # The error speaks of somebody's replacement, and the letter keeps the original.
            keeps_payload=tried not in (None, event),
            headers=event.metadata,
            error_type=one["error_type"],
            error_message=one["error_message"],
            stacktrace=one["stacktrace"],
            failed_at=datetime.fromisoformat(one["at"]),
            attempts=number,
            category=one.get("category", ""),
            duration_ms=one["duration_ms"],
            run_id=hand.run_id,
            is_regression=not hand.is_rebuild,
        )


def make_parked(consumer: str, event: StoredEvent, at: datetime) -> Parked:
    """Without its payload: the event is in the store, at its position."""
    return Parked(**describe_event(consumer, event), parked_at=at)


def describe_event(consumer: str, event: StoredEvent) -> dict[str, Any]:
    metadata = event.metadata
    return {
        "source": NATIVE,
        "consumer": consumer,
        "event_id": str(event.event_id),
        "event_type": event.type,
        "sequence_key": event.stream,
        "sequence_no": event.version,
        "position": event.position,
        "trace_id": str(metadata.get("trace_id", "")),
        "tenant": str(metadata.get("tenant", "")),
        "app_version": str(metadata.get("app_version", "")),
    }
