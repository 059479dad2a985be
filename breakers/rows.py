"""A breaker as the pages show it: what Postgres knows, with what Redis says at this moment."""

from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from breakers.history import Outage, count_flaps
from breakers.live import Live
from breakers.models import Breaker, State
from breakers.policy import Policy

STRIP_HOURS = 24


@dataclass(frozen=True)
class Row:
    """`live` is None for a breaker of another library, and for ours while Redis is away or has forgotten it."""

    breaker: Breaker
    live: Live | None
    is_unknown: bool
    outages: list[Outage] = field(default_factory=list)

    @property
    def query(self) -> str:
        """What names it in an address."""
        source = {} if self.is_ours else {"source": self.breaker.source}
        return urlencode({"name": self.breaker.name, **source})

    @property
    def url(self) -> str:
        return f"{reverse('breakers:breaker')}?{self.query}"

    @property
    def is_ours(self) -> bool:
        return self.breaker.source == Breaker.OURS

    @property
    def source_label(self) -> str:
        return self.breaker.source.partition("=")[0]

    @property
    def state(self) -> State:
        """As it is; for one of ours that Redis does not know, closed; while Redis is away, as it last was."""
        if self.live:
            return self.live.state
        return State.CLOSED if self.is_ours and not self.is_unknown else State(self.breaker.state)

    @property
    def is_held(self) -> bool:
        return self.live is not None and self.live.is_held

    @property
    def now(self) -> datetime:
        return self.live.now if self.live else timezone.now()

    @property
    def left_closed_at(self) -> datetime | None:
        return self.live.left_closed_at if self.live else self.breaker.left_closed_at

    @property
    def open_for_seconds(self) -> float | None:
        """Since it left closed, half open included; None while it is closed."""
        return (self.now - self.left_closed_at).total_seconds() if self.left_closed_at else None

    @property
    def retry_seconds(self) -> float | None:
        """Until the next probe; 0: the next call is one; None: it is not open, held with no end, or not known."""
        retry_at = self.live.retry_at if self.live else self.breaker.retry_at
        if self.state != State.OPEN or retry_at is None:
            return None
        return max((retry_at - self.now).total_seconds(), 0)

    @property
    def waited_share(self) -> float:
        """How much of the pause is over, from 0 to 1."""
        if self.retry_seconds is None or not self.policy or not self.is_ours:
            return 0
        return min(max(1 - self.retry_seconds / self.policy.open_seconds, 0), 1)

    @property
    def policy(self) -> Policy | None:
        if self.live and self.live.policy:
            return self.live.policy
        return Policy.from_dict(self.breaker.policy) if self.breaker.policy else None

    @property
    def failure_count(self) -> int | None:
        return self.live.failure_count if self.live else self.breaker.failure_count

    @property
    def last_error(self) -> str:
        return self.live.last_error if self.live else self.breaker.last_error

    @property
    def used_by(self) -> list[str]:
        return self.live.used_by if self.live else self.breaker.used_by

    @property
    def flap_count(self) -> int:
        return count_flaps(self.outages, self.now)
