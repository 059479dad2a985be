"""What a source with checkpoints must offer."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from sources.base import Found, SourceError


class ResetRefusedError(SourceError):
    """A checkpoint was left alone, because its worker would undo a reset or had moved it meanwhile."""

    def __init__(self, message: str) -> None:
        super().__init__(message, permanent=True)


class Bound(StrEnum):
    """How a number of events is meant: it was counted, or only so many could be looked at."""

    EXACT = ""
    AT_MOST = "at_most"
    AT_LEAST = "at_least"


@dataclass(frozen=True)
class Evidence:
    """Whether somebody works, None if that cannot be seen, and how we know."""

    is_running: bool | None
    sentence: str
    # Who was looked for, by name; empty: nobody said whom to look for.
    worker: str = ""
    # Whether not being seen means being stopped; a projector that works in batches comes and goes.
    is_steady: bool = False


@dataclass(frozen=True, kw_only=True)
class ForeignCheckpoint:
    """How far a consumer that others run has come; None always means that it cannot be known."""

    consumer: str
    # In the source's own words, such as an event id; `position` if it is a number.
    at: str
    # Another one after every write: what a reset compares before it touches anything.
    stamp: str
    worker: Evidence
    position: int | None = None
    head: int | None = None
    last_event_id: str = ""
    last_event_type: str = ""
    # How many events it has handled since it was created, at most; some are counted twice.
    handled: int | None = None
    updated_at: datetime | None = None
    # Since it was written, by the source's own clock.
    idle_seconds: float | None = None
    # Events that it has not come to, and when the first of those was written.
    lag: int | None = None
    lag_bound: Bound = Bound.EXACT
    # Why it is not known, or not known better.
    lag_note: str = ""
    waiting_since: datetime | None = None


@dataclass(frozen=True)
class NamedEvent:
    """An event, as much as a person needs to look for its effect."""

    event_id: str
    event_type: str
    stream: str
    position: str


@dataclass(frozen=True)
class Unaccounted:
    """Events that a checkpoint went past without a trace; the number is None if that cannot be known."""

    number: int | None
    sentence: str
    named: list[NamedEvent] = field(default_factory=list)
    # The positions of events that have a letter, by event id, as far as was looked.
    placed: dict[str, int] = field(default_factory=dict)
    # Events that were written before were not looked at; None: all were.
    since: datetime | None = None
    # When the first event that shows it was written, and the newest of those that are lost; None: there is none.
    begins_at: datetime | None = None
    newest_at: datetime | None = None


class Checkpoints(Protocol):
    """The checkpoints of a source. Each call is one bounded transaction."""

    def inspect(self) -> Found: ...

    def list_checkpoints(self) -> list[ForeignCheckpoint]: ...

    def find_unaccounted(self, checkpoint: ForeignCheckpoint) -> Unaccounted: ...

    def reset_checkpoint(self, consumer: str, *, stamp: str) -> bool:
        """Take it back to before the first event, or raise ResetRefusedError; nothing happens if there is none.

        Returns whether it is certain that nobody worked while this was done.
        """
