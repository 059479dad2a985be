"""A breaker as the pages show it: what Postgres knows, with what Redis says at this moment."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from math import ceil
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from breakers.foreign.reader import Reader
from breakers.foreign.registry import list_readers
from breakers.history import Outage, add_current, count_flaps, list_outages
from breakers.live import Live, read
from breakers.models import Breaker, Reading, State, Trip
from breakers.policy import Policy
from breakers.readings import find_silent
from breakers.strips import STRIP_HOURS, Strip, draw_strip
from breakers.trips import find_holding
from dashboard.redis import RedisError, describe_error
from dashboard.words import counted, duration

COUNT_SECONDS_BELOW_MINUTES = 60
LIST_ERROR_LENGTH = 90


@dataclass(frozen=True)
class Row:
    """`live` is None for a breaker of another library, and for ours while nobody has asked Redis, or it is away."""

    breaker: Breaker
    live: Live | None = None
    # Why its state is not known now; None: it is.
    silence: Reading | None = None
    # Who holds it open; None: nobody.
    trip: Trip | None = None
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
    def reader(self) -> Reader | None:
        """Of another library's breaker; None if the settings no longer name it."""
        return list_readers().get(self.breaker.source)

    @property
    def is_abandoned(self) -> bool:
        """Whether the settings no longer name its library: it is noted as closed then, however it was last read."""
        return not self.is_ours and not self.reader

    @property
    def source_label(self) -> str:
        return self.breaker.source.partition("=")[0]

    @property
    def full_name(self) -> str:
        """What names it in a sentence: others may have one of the same name."""
        return self.breaker.name if self.is_ours else f"{self.source_label} {self.breaker.name}"

    @property
    def is_unknown(self) -> bool:
        return self.silence is not None

    @property
    def unknown_since(self) -> datetime | None:
        """None: it is known, or was never read."""
        return self.silence.read_at if self.silence else None

    @property
    def why_no_reset(self) -> str:
        """Empty if it can be reset; one that is held always can, since the hold is ours to end."""
        if self.trip:
            return ""
        if self.is_ours and self.is_unknown:
            return "Redis does not answer, and only Redis can close it."
        if self.is_abandoned:
            return "What is no longer read here is not written to either."
        if self.state != State.CLOSED or (self.is_ours and self.failure_count):
            return ""
        if self.is_unknown:
            return "It was closed when it was last read."
        # Other libraries keep their failures to themselves.
        return "It is closed, and there is no failure to forget." if self.is_ours else "It is closed."

    @cached_property
    def state(self) -> State:
        """As it is, or as it was when it was last read."""
        return self.live.state if self.live else State(self.breaker.state)

    @property
    def is_held(self) -> bool:
        """Or was, when it was last read: Redis may not have heard of a trip that was made since.

        Redis notes that the time of a hold is over with the next call only.
        """
        if self.live:
            return self.live.is_held and self.retry_seconds != 0
        if not self.trip or not self.silence:
            return self.trip is not None
        return self.unknown_since is not None and self.trip.created_at < self.unknown_since

    @property
    def label(self) -> str:
        """The state in words."""
        return "Held open" if self.is_held else str(self.state.label)

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
        if self.is_unknown or self.state != State.OPEN or retry_at is None:
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
            return f"{counted(self.live.probe_count, 'probe')} under way"
        if self.state == State.HALF_OPEN and self.live and self.policy and self.live.success_count:
            return f"{self.live.success_count} of {self.policy.success_threshold} probes succeeded"
        if self.state == State.CLOSED:
            return ""
        if self.retry_seconds == 0 or self.state == State.HALF_OPEN:
            return "the next call is a probe"
        if self.retry_seconds is not None:
            verb = "expires in" if not self.is_ours else "hold ends in" if self.is_held else "probe in"
            return f"{verb} {self.countdown}"
        return self.reader.lasts if self.reader else "until it is reset"

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
        return Policy.from_announced(self.breaker.policy) if self.breaker.policy else None

    @property
    def failure_count(self) -> int | None:
        """None if nobody counts; an open breaker had as many as it takes."""
        if self.live and self.policy and self.state == State.OPEN and not self.live.is_held:
            return self.policy.failure_threshold
        return self.live.failure_count if self.live else self.breaker.failure_count

    @property
    def count_words(self) -> str:
        """Failures of how many."""
        if self.is_unknown:
            return "unknown"
        if self.failure_count is None:
            return "–"
        most = f"/{self.policy.failure_threshold}" if self.policy else ""
        return f"{self.failure_count}{most}"

    @property
    def refused_words(self) -> str:
        """How many calls since it left closed; a closed one keeps the number of the last time, which says nothing."""
        if self.is_unknown and self.is_ours:
            return "unknown"
        return f"{self.live.short_circuited_count:,}" if self.live and self.state != State.CLOSED else "–"

    @property
    def last_error(self) -> str:
        return (self.live.last_error if self.live else "") or self.breaker.last_error

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


def make_rows(breakers: list[Breaker], silent: dict[str, Reading]) -> list[Row]:
    """The breakers with their state in Redis, who holds them and their last day, in one round trip and two queries."""
    lives: dict[str, Live] = {}
    if Breaker.OURS not in silent:
        try:
            lives = read([breaker.name for breaker in breakers if breaker.source == Breaker.OURS])
        except RedisError as error:
            silent = find_silent(describe_error(error))
    now = timezone.now()
    known = [breaker for breaker in breakers if breaker.pk]
    trips = find_holding(known)
    outages = list_outages(known, now - timedelta(hours=STRIP_HOURS), now)
    rows = []
    for breaker in breakers:
        live = lives.get(breaker.name) if breaker.source == Breaker.OURS else None
        found = outages.get(breaker.pk, [])
        rows.append(
            Row(
                breaker=breaker,
                live=live,
                silence=silent.get(breaker.source),
                trip=trips.get(breaker.pk),
                outages=add_current(found, live.left_closed_at, now) if live else found,
            )
        )
    return rows
