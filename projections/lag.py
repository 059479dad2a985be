"""How far behind each projection is, in events of its own types and in time; three statements for all of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection, transaction
from django.utils import timezone

from projections.models import LagSample, Projection
from projections.runtime.lock import try_lock_consumer

RATE_WINDOW = timedelta(minutes=5)
# What the lag is compared with: no further back, or a burst that is over would long be taken for arrival.
GAIN_WINDOW = timedelta(minutes=2)
# Less than this apart, two measurements say nothing.
GAIN_AFTER_SECONDS = 10
TREND_WINDOW = timedelta(hours=1)
# An event takes a turn of its consumer, its handler and a commit, and a page is seconds old when it is read: one that
# came a moment ago is on its way, and a projection that waits for nothing older is up to date.
MOMENT_SECONDS = 5.0
# Behind by so many events for longer than a burst takes, or for so long, whatever the number: somebody has to look.
MANY_EVENTS, BURST_SECONDS = 1000, 60
LONG_SECONDS = 300

# The total of each type is kept under the head's lock, and what a projection has seen of its types with its checkpoint:
# what is left is a subtraction. The delay is the age of the event after the checkpoint, one probe of the primary key.
GET_LAGS = """
SELECT p.id, coalesce(head.position, 0), coalesce(total.number, 0) - p.seen_count, next.recorded_at
FROM projections_projection p
LEFT JOIN projections_head head ON head.id = 1
LEFT JOIN LATERAL (
    SELECT sum(number) AS number FROM projections_eventtype WHERE name = ANY(p.event_types)
) AS total ON true
LEFT JOIN projections_event next ON next.position = p.position + 1
"""

# How many events of the types there are up to a position, from their own numbers: of each type all before the next
# one, or all there are.
COUNT_SEEN = """
SELECT coalesce(sum(coalesce(next.type_no - 1, known.number)), 0)
FROM projections_eventtype known
LEFT JOIN LATERAL (
    SELECT type_no FROM projections_event e
    WHERE e.type = known.name AND e.position > %(position)s ORDER BY e.position LIMIT 1
) AS next ON true
WHERE known.name = ANY(%(types)s)
"""

# What each did in the window, and how long ago its first minute there began.
GET_PACES = """
SELECT projection_id, sum(processed + skipped + dead_lettered + parked), sum(processed), sum(failed), min(starts_at)
FROM projections_pace WHERE starts_at > %s GROUP BY projection_id
"""


@dataclass(frozen=True)
class Lag:
    """A projection's distance from the head; `oldest_at` is when its next event was recorded, None if there is none."""

    head: int
    events: int
    oldest_at: datetime | None

    @property
    def delay_seconds(self) -> float:
        if self.oldest_at is None:
            return 0.0
        return max((timezone.now() - self.oldest_at).total_seconds(), 0.0)

    @property
    def is_behind(self) -> bool:
        """Events wait, and not only those of this moment; of those whose age is not known that is assumed."""
        return self.events > 0 and (self.oldest_at is None or self.delay_seconds >= MOMENT_SECONDS)

    def is_too_far(self, grace_seconds: float = 0) -> bool:
        """Whether somebody has to look; retries that a policy allows come on top."""
        delay = self.delay_seconds - grace_seconds
        return delay > LONG_SECONDS or (self.events >= MANY_EVENTS and delay > BURST_SECONDS)


class Sample(NamedTuple):
    """Where the head and a projection were at a moment."""

    at: datetime
    head: int
    position: int
    lag: int


@dataclass(frozen=True)
class Rates:
    """Events a second over the last minutes; `arriving` and `gain` are None while nobody has sampled."""

    handled: float = 0.0
    arriving: float | None = None
    # By how much the lag shrinks, of late; below 0 it grows.
    gain: float | None = None
    processed_count: int = 0
    failed_count: int = 0

    @property
    def error_percent(self) -> float | None:
        """Of all tries; None when there was none."""
        tries = self.processed_count + self.failed_count
        return 100 * self.failed_count / tries if tries else None


@dataclass(frozen=True)
class Measures:
    """What the pages show of one projection; `seconds_left` is None if it is not catching up, or nobody can tell."""

    lag: Lag
    rates: Rates
    samples: list[Sample]

    @property
    def seconds_left(self) -> float | None:
        if not self.lag.events:
            return 0.0
        gain = self.rates.gain
        return self.lag.events / gain if gain and gain > 0 else None


def get_lags() -> dict[int, Lag]:
    with connection.cursor() as cursor:
        cursor.execute(GET_LAGS)
        return {
            pk: Lag(head, int(events), next_at if events else None)
            for pk, head, events, next_at in cursor.fetchall()
        }


def recount_seen(projection_id: int) -> None:
    """Put right what a projection has seen of its types; the caller holds its lock, so that it does not move.

    After a checkpoint or the types were changed, and by beat, should the sum ever be off.
    """
    found = Projection.objects.filter(pk=projection_id)
    for types, position in found.values_list("event_types", "position"):
        found.update(seen_count=count_seen(types, position))


def count_seen(types: list[str], position: int) -> int:
    """Exactly how many events of these types there are up to the position."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT_SEEN, {"types": types, "position": position})
        return int(cursor.fetchone()[0])


def recount_idle() -> None:
    """The same for every projection that nobody is working on right now."""
    for row in Projection.objects.only("name"):
        with transaction.atomic():
            if try_lock_consumer(row.name):
                recount_seen(row.pk)


def get_measures(since: timedelta = TREND_WINDOW) -> dict[int, Measures]:
    """Lag, rates and trend of every projection, by id."""
    now = timezone.now()
    lags = get_lags()
    with connection.cursor() as cursor:
        cursor.execute(GET_PACES, [now - RATE_WINDOW])
        paces = {row[0]: row[1:] for row in cursor.fetchall()}
    samples: dict[int, list[Sample]] = {}
    # Tuples: fifty projections have thousands of them.
    recent = LagSample.objects.filter(at__gt=now - since).order_by("at")
    for pk, *values in recent.values_list("projection_id", *Sample._fields):
        samples.setdefault(pk, []).append(Sample(*values))
    return {
        pk: Measures(lag, make_rates(lag, paces.get(pk), samples.get(pk, []), now), samples.get(pk, []))
        for pk, lag in lags.items()
    }


def make_rates(
    lag: Lag, pace: tuple[int, int, int, datetime] | None, samples: list[Sample], now: datetime
) -> Rates:
    """What arrives is what was handled, and what the lag grew by meanwhile."""
    handled_count, processed, failed, since = pace or (0, 0, 0, now - RATE_WINDOW)
    handled = float(handled_count) / max((now - since).total_seconds(), 1.0)
    growth = find_growth(lag, samples, now, RATE_WINDOW)
    arriving = None if growth is None else max(handled + growth, 0.0)
    growth = find_growth(lag, samples, now, GAIN_WINDOW, GAIN_AFTER_SECONDS)
    return Rates(handled, arriving, None if growth is None else -growth, int(processed), int(failed))


def find_growth(
    lag: Lag, samples: Iterable[Sample], now: datetime, window: timedelta, least_seconds: float = 0
) -> float | None:
    """Events a second by which the lag grew since the oldest sample of the window; None: there is none."""
    earlier = next((sample for sample in samples if sample.at > now - window), None)
    seconds = (now - earlier.at).total_seconds() if earlier else 0.0
    if earlier is None or seconds < least_seconds:
        return None
    return (lag.events - earlier.lag) / max(seconds, 1.0)


def take_samples(at: datetime | None = None) -> None:
    """Beat's measurement; None: now."""
    now, positions = at or timezone.now(), dict(Projection.objects.values_list("pk", "position"))
    LagSample.objects.bulk_create(
        LagSample(projection_id=pk, at=now, head=lag.head, position=positions[pk], lag=lag.events)
        for pk, lag in get_lags().items()
        if pk in positions
    )
