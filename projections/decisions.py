"""What becomes of an event that failed: the four answers a policy can give, and what it is told."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Self

from projections.store import StoredEvent


@dataclass(frozen=True)
class FailureContext:
    """What a policy is told. Public: fields are only ever added, and then the version rises."""

    VERSION: ClassVar[int] = 1

    consumer: str
    event: StoredEvent
    error: BaseException
    # transient, permanent, poison or dependency, by the rules of the dead letters.
    category: str
    # Failed tries of this event so far, with this one.
    attempt: int
    position: int


@dataclass(frozen=True)
class Fatal:
    """Stop the projection before this event until a person decides; the default, since nothing is lost by it."""

    def __str__(self) -> str:
        return "stop"


@dataclass(frozen=True)
class DeadLetter:
    """Put the event on record as a dead letter and go on; later events of its stream are parked behind it."""

    def __str__(self) -> str:
        return "dead letter"


@dataclass(frozen=True)
class Skip:
    """Go past the event without its effect. The reason says why this projection can live with the gap."""

    reason: str

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("Skip needs a reason: it leaves a gap that somebody will ask about.")

    def __str__(self) -> str:
        return f"skip ({self.reason})"


@dataclass(frozen=True)
class Retry:
    """Try again after each of the waits, holding later events back; when they are used up, `then`."""

    waits: tuple[float, ...]
    # A fraction: 0.25 makes each wait up to a quarter shorter or longer.
    jitter: float = 0.0
    then: Fatal | DeadLetter = field(default_factory=Fatal)

    def __post_init__(self) -> None:
        # A Skip in here would get past what a ledger refuses.
        if not isinstance(self.then, Fatal | DeadLetter):
            raise ValueError(f"After a Retry comes Fatal or DeadLetter, and not {type(self.then).__name__}.")

    @classmethod
    def exponential(
        cls,
        retries: int,
        *,
        base_seconds: float,
        multiplier: float = 2.0,
        cap_seconds: float = float("inf"),
        jitter: float = 0.0,
        then: Fatal | DeadLetter | None = None,
    ) -> Self:
        waits = tuple(min(base_seconds * multiplier**n, cap_seconds) for n in range(retries))
        return cls(waits, jitter, then or Fatal())

    def find_wait(self, attempt: int, chance: Callable[[], float] = random.random) -> float | None:
        """Seconds until the try after the attempt-th failed one; None when the waits are used up."""
        if attempt > len(self.waits):
            return None
        return self.waits[attempt - 1] * (1 + self.jitter * (2 * chance() - 1))

    @property
    def longest_seconds(self) -> float:
        """How long all waits can take together."""
        return sum(self.waits) * (1 + self.jitter)

    def __str__(self) -> str:
        waits = ", ".join(f"{wait:g}" for wait in self.waits)
        spread = f" ± {self.jitter:.0%}" if self.jitter else ""
        return f"retry after {waits} s{spread}, then {self.then}"


Decision = Fatal | DeadLetter | Skip | Retry
