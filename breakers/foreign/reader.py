"""What a reader of another library's breakers does; the scan and the pages know no library by name."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from breakers.models import State

# A redis-py client that decodes; its type cannot say that the answers are then text.
Client = Any


@dataclass(frozen=True)
class Found:
    """One breaker as its library left it in Redis."""

    name: str
    state: State
    # None where the library counts nothing.
    failure_count: int | None = None
    # When it opened; None if it is closed, or nobody knows.
    opened_at: datetime | None = None
    # When it will be tried again; None if the library does not keep it in Redis.
    retry_at: datetime | None = None


class Reader(Protocol):
    """Reads and resets the breakers of one library."""

    @property
    def source(self) -> str:
        """The setting that named it, which is also the source of its rows."""
        ...

    @property
    def pattern(self) -> str:
        """What SCAN looks for: one key for each breaker."""
        ...

    @property
    def note(self) -> str:
        """What the page says about breakers of this kind."""
        ...

    @property
    def lasts(self) -> str:
        """Until when an open one stays open if nobody knows the time, in words."""
        ...

    @property
    def why_no_trip(self) -> str:
        """Why it cannot be held open."""
        ...

    @property
    def reset_effect(self) -> str:
        """What a reset does in Redis."""
        ...

    def read(self, client: Client, keys: list[str]) -> list[Found]:
        """The breakers of these keys, in one round trip; one that has gone since is left out."""
        ...

    def reset(self, client: Client, name: str) -> bool:
        """Close the breaker as its library would; False if there is nothing to close."""
        ...
