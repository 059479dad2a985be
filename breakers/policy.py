"""When a breaker opens, how long it stays open, and what closes it again."""

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

# A window keeps the times of its failures, so a threshold is also a length.
HIGHEST_THRESHOLD = 1000
LONGEST_SECONDS = 24 * 3600


@dataclass(frozen=True)
class Policy:
    """One algorithm's numbers; the profiles are policies with the numbers of somebody's document."""

    failure_threshold: int = 5
    # 0: the failures must be consecutive. Otherwise they must fall within this many seconds, whatever succeeds between.
    window_seconds: float = 0
    open_seconds: float = 30
    half_open_probes: int = 1
    success_threshold: int = 1
    # None: a call may take any time. A call that took longer counts as failed, whatever it returned.
    call_timeout_seconds: float | None = None
    # Answers with these HTTP statuses are the caller's business, not a sign of the dependency's health.
    ignored_statuses: tuple[int, ...] = ()
    # How long a process may go on believing "closed" without asking; 0: every call asks.
    cache_seconds: float = 0.25
    # What an open breaker means to the people who look at it.
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("failure_threshold", "half_open_probes", "success_threshold"):
            self._check(name, 1, HIGHEST_THRESHOLD)
        for name in ("window_seconds", "cache_seconds"):
            self._check(name, 0, LONGEST_SECONDS)
        self._check("open_seconds", 0.001, LONGEST_SECONDS)
        if self.call_timeout_seconds is not None:
            self._check("call_timeout_seconds", 0.001, LONGEST_SECONDS)

    def _check(self, name: str, least: float, most: float) -> None:
        value = getattr(self, name)
        if not least <= value <= most:
            raise ValueError(f"{name} is {value!r}; it must be from {least:g} to {most:,}.")

    @cached_property
    def as_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Policy | None":
        """The policy that a process announced; None if this version cannot read it."""
        try:
            return cls.from_dict(json.loads(text))
        except (ValueError, TypeError):
            return None

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Policy":
        return cls(**{**values, "ignored_statuses": tuple(values.get("ignored_statuses", ()))})
