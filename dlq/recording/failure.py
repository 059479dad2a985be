from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event and the consumer that should have handled it; any text may hold anything."""

    consumer: str
    # Empty: topic, partition and offset stand in, or else a hash of the payload.
    event_id: str = ""
    source: str = "native"
    source_key: str = ""
    event_type: str = ""
    # Text and bytes are kept as they were sent; JsonText and anything else is held as JSON.
    payload: Any = None
    headers: Mapping[Any, Any] = field(default_factory=dict)
    # Empty: a sequence of its own.
    sequence_key: str = ""
    sequence_no: int | None = None
    position: int | None = None
    topic: str = ""
    partition: int | None = None
    offset: int | None = None
    trace_id: str = ""
    tenant: str = ""
    app_version: str = ""


@dataclass(frozen=True, kw_only=True)
class Failure(Event):
    """One failed try: type, message and trace as text, or the exception itself as `error`."""

    error: BaseException | None = None
    # Empty: read from the stack trace.
    error_type: str = ""
    error_message: str = ""
    stacktrace: str = ""
    # None: now.
    failed_at: datetime | None = None
    # When it failed for the first time, if the reporter knows; None: then.
    first_failed_at: datetime | None = None
    # How often it was tried so far, if the reporter counts.
    attempts: int = 1
    # What the reporter takes it for; the operator's rules may know better.
    category: str = ""
    duration_ms: int | None = None
    # True: a letter that has a payload keeps it, whatever was tried this time.
    keeps_payload: bool = False
    # The replay that tried.
    run_id: int | None = None
    # False in a rebuild, which handles everything again: what fails there is not back after it was mended.
    is_regression: bool = True


@dataclass(frozen=True, kw_only=True)
class Parked(Event):
    """An event that was not tried, because an earlier one of its sequence is open."""

    parked_at: datetime | None = None
