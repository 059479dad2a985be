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
            self._check(name, 1, HIGHEST_THRESHOLD, int)
        for name in ("window_seconds", "cache_seconds"):
            self._check(name, 0, LONGEST_SECONDS)
        self._check("open_seconds", 0.001, LONGEST_SECONDS)
        if self.call_timeout_seconds is not None:
            self._check("call_timeout_seconds", 0.001, LONGEST_SECONDS)
        statuses: object = self.ignored_statuses
        if not isinstance(statuses, tuple | list) or not all(type(status) is int for status in statuses):
            raise ValueError(f"ignored_statuses is {statuses!r}; it must hold whole numbers such as 404.")
        if not isinstance(self.note, str):
            raise ValueError(f"note is {self.note!r}; it must be text.")

    def _check(self, name: str, least: float, most: float, *kinds: type) -> None:
        value = getattr(self, name)
        if type(value) not in (kinds or (int, float)) or not least <= value <= most:
            what = "a whole number" if kinds else "a number"
            raise ValueError(f"{name} is {value!r}; it must be {what} from {least:g} to {most:,}.")

    @cached_property
    def as_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Policy | None":
        """The policy that a process announced; None if this version cannot read it."""
        try:
            return cls.from_announced(json.loads(text))
        except ValueError:
            return None

    @classmethod
    def from_announced(cls, values: dict[str, Any]) -> "Policy | None":
        """The same, read from JSON already."""
        try:
            return cls.from_dict(values)
        except (ValueError, TypeError):
            return None

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Policy":
        return cls(**{**values, "ignored_statuses": to_tuple(values.get("ignored_statuses", ()))})


def to_tuple(value: Any) -> Any:
    """Of a list; anything else is for the policy to refuse."""
    return tuple(value) if isinstance(value, list) else value
