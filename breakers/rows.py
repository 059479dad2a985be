"""A breaker as the pages show it: what Postgres knows, with what Redis says at this moment."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from math import ceil
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from breakers.history import Outage, count_flaps, list_outages
from breakers.live import Live, read
from breakers.models import Breaker, State
from breakers.policy import Policy
from breakers.strips import STRIP_HOURS, Strip, draw_strip
from dashboard.redis import RedisError
from dashboard.templatetags.console import duration

COUNT_SECONDS_BELOW_MINUTES = 60
LIST_ERROR_LENGTH = 90


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
    def can_be_reset(self) -> bool:
        """One of ours also forgets its failures while it is closed; other libraries' keep theirs to themselves."""
        return self.state != State.CLOSED or (self.is_ours and bool(self.failure_count))

    @property
    def source_label(self) -> str:
        return self.breaker.source.partition("=")[0]

    @cached_property
    def state(self) -> State:
        """As it is; for one of ours that Redis does not know, closed; while Redis is away, as it last was."""
        if self.live:
            return self.live.state
        return State.CLOSED if self.is_ours and not self.is_unknown else State(self.breaker.state)

    @property
    def is_held(self) -> bool:
        return self.live is not None and self.live.is_held

    @cached_property
    def now(self) -> datetime:
        return self.live.now if self.live else timezone.now()

    @property
    def left_closed_at(self) -> datetime | None:
        """Half open included; None while it is closed."""
        return self.live.left_closed_at if self.live else self.breaker.left_closed_at

    @cached_property
    def open_for_seconds(self) -> float | None:
        return (self.now - self.left_closed_at).total_seconds() if self.left_closed_at else None

    @cached_property
    def retry_seconds(self) -> float | None:
        """Until the next probe; 0: the next call is one; None: it is not open, held with no end, or not known."""
        retry_at = self.live.retry_at if self.live else self.breaker.retry_at
        if self.state != State.OPEN or retry_at is None:
            return None
        return max((retry_at - self.now).total_seconds(), 0)

    @property
    def countdown(self) -> str:
        """The time left, to the second where somebody may be waiting for it."""
        minutes, seconds = divmod(ceil(self.retry_seconds or 0), 60)
        if minutes >= COUNT_SECONDS_BELOW_MINUTES:
            return duration(self.retry_seconds)
        return f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"

    @property
    def next_step(self) -> str:
        """What happens next to a breaker that is not closed, in words; empty for a closed one."""
        if self.state == State.HALF_OPEN and self.live and self.live.probe_count:
            return f"{self.live.probe_count} probe{'' if self.live.probe_count == 1 else 's'} under way"
        if self.state == State.HALF_OPEN and self.live and self.policy and self.live.success_count:
            return f"{self.live.success_count} of {self.policy.success_threshold} probes succeeded"
        if self.state == State.CLOSED:
            return ""
        if self.retry_seconds == 0 or self.state == State.HALF_OPEN:
            return "the next call is a probe"
        if self.retry_seconds is not None:
            verb = "expires in" if not self.is_ours else "held for" if self.is_held else "probe in"
            return f"{verb} {self.countdown}"
        return "until it is reset" if self.is_ours else f"until {self.source_label} tries again"

    @property
    def waited_percent(self) -> str:
        """How much of the pause is over, as a width is written; empty if it is held, or the pause is not known."""
        if not self.retry_seconds or self.is_held or not self.policy or not self.is_ours:
            return ""
        return f"{100 * min(max(1 - self.retry_seconds / self.policy.open_seconds, 0), 1):.1f}"

    @cached_property
    def policy(self) -> Policy | None:
        if self.live and self.live.policy:
            return self.live.policy
        return Policy.from_dict(self.breaker.policy) if self.breaker.policy else None

    @property
    def failure_count(self) -> int | None:
        """None if nobody counts; an open breaker had as many as it takes."""
        if self.live and self.policy and self.state == State.OPEN and not self.is_held:
            return self.policy.failure_threshold
        return self.live.failure_count if self.live else self.breaker.failure_count

    @property
    def count_words(self) -> str:
        """Failures of how many."""
        if self.is_unknown or self.failure_count is None:
            return "–"
        return (
            f"{self.failure_count}/{self.policy.failure_threshold}"
            if self.policy
            else f"{self.failure_count}"
        )

    @property
    def last_error(self) -> str:
        return self.live.last_error if self.live else self.breaker.last_error

    @property
    def short_error(self) -> str:
        """For a list; the whole text is on the breaker's own page."""
        text = self.last_error
        return text if len(text) <= LIST_ERROR_LENGTH else f"{text[:LIST_ERROR_LENGTH]}…"

    @property
    def strip(self) -> Strip:
        return draw_strip(self.outages, self.now)

    @property
    def flap_count(self) -> int:
        return count_flaps(self.outages, self.now)


def make_rows(breakers: list[Breaker], *, is_known: bool) -> list[Row]:
    """The breakers with their state in Redis and their last day, in one round trip and one query."""
    lives: dict[str, Live] = {}
    if is_known:
        try:
            lives = read([breaker.name for breaker in breakers if breaker.source == Breaker.OURS])
        except RedisError:
            is_known = False
    now = timezone.now()
    outages = list_outages([b for b in breakers if b.pk], now - timedelta(hours=STRIP_HOURS), now)
    return [
        Row(
            breaker=breaker,
            live=lives.get(breaker.name) if breaker.source == Breaker.OURS else None,
            is_unknown=not is_known and breaker.source == Breaker.OURS,
            outages=outages.get(breaker.pk, []),
        )
        for breaker in breakers
    ]
