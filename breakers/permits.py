"""What a breaker answers to a call that wants to go through."""

from typing import NamedTuple


class Permit(NamedTuple):
    """The call may go through; its result counts only while the breaker is still in this generation."""

    generation: int
    # 0: not a probe.
    token: int = 0
    # Whether a success has consecutive failures to clear.
    has_failures: bool = False
    # Whether this process's own breaker gave it, because Redis is away.
    is_local: bool = False


class Refusal(NamedTuple):
    """The call may not; None means that somebody holds the breaker open with no end."""

    retry_ms: int | None


class BreakerOpen(Exception):
    """The call was not made, because the breaker is open; `retry_after` is in seconds, None if nobody can say."""

    def __init__(self, name: str, retry_after: float | None) -> None:
        super().__init__(name, retry_after)
        self.name = name
        self.retry_after = retry_after

    def __str__(self) -> str:
        if self.retry_after is None:
            return f"Breaker {self.name} is held open until somebody resets it."
        return f"Breaker {self.name} is open; try again in {self.retry_after:.1f} s."
