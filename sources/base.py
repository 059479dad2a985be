"""What every source must offer: capabilities, frozen rows, and the one error of this boundary.

What those with checkpoints offer besides is in checkpoints/contract.py.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from sources.checkpoints.contract import Checkpoints


class SourceError(Exception):
    """A source did not do what was asked; `permanent` says that trying again cannot help until somebody acts."""

    def __init__(self, message: str, *, permanent: bool) -> None:
        super().__init__(message)
        self.permanent = permanent


@dataclass(frozen=True)
class Ability:
    """Something that a source may offer; if it does not, a sentence says why."""

    why_not: str = ""

    def __bool__(self) -> bool:
        return not self.why_not


@dataclass(frozen=True)
class Capabilities:
    """What can be done with a source, as its schema and the role that reads it allow."""

    reads_letters: Ability
    writes_status: Ability
    reads_checkpoints: Ability
    resets_checkpoints: Ability


@dataclass(frozen=True)
class Inspection:
    """What was found at a source: sentences for people, and what follows from them."""

    capabilities: Capabilities
    # What was recognised, such as "dead_letter_queue: 13 columns as in eventsource-py".
    recognised: list[str] = field(default_factory=list)
    # What the role may do, in a sentence each.
    role: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ForeignState:
    """What can change about a foreign row, and nothing else."""

    key: str
    # In the source's own words.
    status: str
    failed_at: datetime
    attempts: int
    # Who closed it, as the source says; it may be left over from an earlier time, so it counts only for a closed row.
    closed_by: str = ""


@dataclass(frozen=True, kw_only=True)
class ForeignLetter:
    """A failed event as it stands at its source."""

    key: str
    status: str
    failed_at: datetime
    attempts: int
    consumer: str
    event_id: str
    event_type: str = ""
    payload: Any = None
    # Empty: unknown; recording reads it from the stack trace.
    error_type: str = ""
    error_message: str = ""
    stacktrace: str = ""
    # None: the source keeps only the latest.
    first_failed_at: datetime | None = None
    sequence_key: str = ""
    sequence_no: int | None = None
    trace_id: str = ""
    tenant: str = ""
    app_version: str = ""

    @property
    def state(self) -> ForeignState:
        return ForeignState(self.key, self.status, self.failed_at, self.attempts)


@dataclass(frozen=True)
class Found:
    """What one part of a source, its letters or its checkpoints, offers."""

    reads: Ability
    writes: Ability
    recognised: list[str] = field(default_factory=list)
    role: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Change:
    """A status to be written if the row still is as it was seen; `status` is in the source's own words."""

    seen: ForeignState
    status: str
    # Who closed it and when; empty and None: it is opened again.
    by: str = ""
    at: datetime | None = None


class Letters(Protocol):
    """The dead letters of a source, in the order of their keys. Each call is one bounded transaction."""

    @property
    def words(self) -> "Words": ...

    @property
    def keys_grow(self) -> bool:
        """Whether a new row's key is greater than those that were there; if not, only a sweep finds it."""

    def inspect(self) -> Found: ...

    def count_writes(self) -> str | None:
        """Changes whenever something was written, but maybe seconds later; None: the source does not say."""

    def find_newest_key(self) -> str:
        """Empty: there is no row."""

    def read_open(self, *, after: str, until: str = "", limit: int) -> list[ForeignLetter]:
        """Open rows with greater keys, in full: so many, or fewer if they are large; none: there are no more."""

    def list_open_keys(self, *, after: str, limit: int) -> list[str]: ...

    def find_states(self, keys: list[str]) -> dict[str, ForeignState]:
        """Rows that are gone are not in it."""

    def read(self, keys: list[str], *, limit: int) -> Iterator[list[ForeignLetter]]:
        """In parts of so many rows, or fewer if they are large; rows that are gone are not in them."""

    def split_open(self, parts: int) -> tuple[int, list[str]]:
        """How many rows are open, and the keys that part them into as many parts of about the same size."""

    def write_status(self, changes: list[Change], *, skip_locked: bool = False) -> set[str]:
        """Compare-and-set; returns the keys of rows that were as seen and are changed.

        `skip_locked`: rows that somebody holds are passed over, and not waited for.
        """


@dataclass(frozen=True)
class Words:
    """The source's words for what becomes of a row; empty: it has none."""

    open: tuple[str, ...]
    resolved: str = ""
    discarded: str = ""
    # Asks the owner to try again.
    retry: str = ""

    @property
    def released(self) -> str:
        """What a row gets that nobody tries: open, and asking for nothing. Empty: such a row cannot be told."""
        return next((word for word in self.open if self.retry and word != self.retry), "")

    def is_open(self, status: str) -> bool:
        return status in self.open

    def is_retrying(self, status: str) -> bool:
        """Whether somebody is to try the row, or does; never where that word is the only one for open rows."""
        return bool(self.released) and status == self.retry


class Visit(Protocol):
    """One connection's worth of questions to a source."""

    @property
    def letters(self) -> Letters | None:
        """None: it has none that could be read."""

    @property
    def checkpoints(self) -> "Checkpoints | None":
        """None: it has none that could be read."""

    def inspect(self) -> Inspection: ...


class Source(Protocol):
    """A foreign system; whoever visits it bears a SourceError."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def retry_minutes(self) -> float:
        """A row that stands longer in its word for "try again" is tried by nobody."""

    @property
    def retention_hours(self) -> float | None:
        """How long the broker keeps the events that its consumers read; None: nobody said."""

    @property
    def words(self) -> Words | None:
        """None: it has no letters."""

    def visit(self) -> AbstractContextManager[Visit]: ...
