"""What the transitions tell: when a breaker was not closed, for how long each day, and whether it flaps."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.db.models import Q

from breakers.models import Breaker, State, Transition
from dashboard.days import start_of_day

DAY = timedelta(days=1)
# Of the chart of days in _days.html.
BAR_TOP, BAR_HEIGHT = 4, 66
# Leaving closed this often within the hour is a fault of its own: the dependency is neither up nor down.
FLAPPING_COUNT = 3
FLAPPING_WITHIN = timedelta(hours=1)
# A day's worth of a breaker that flaps every minute; beyond it a strip shows the newest.
MOST_TRANSITIONS = 3000


class Change(NamedTuple):
    """What of a transition tells when the breaker was closed."""

    at: datetime
    from_state: str
    to_state: str


@dataclass(frozen=True)
class Outage:
    """From leaving closed to being closed again."""

    began_at: datetime
    ended_at: datetime


@dataclass(frozen=True)
class Day:
    date: date
    open_seconds: float
    outage_count: int

    @property
    def bar_height(self) -> float:
        """In a chart whose full bar is a whole day; never too low to be seen."""
        return max(BAR_HEIGHT * self.open_seconds / DAY.total_seconds(), 2)

    @property
    def bar_y(self) -> float:
        return BAR_TOP + BAR_HEIGHT - self.bar_height


def find_outages(breaker: Breaker, changes: Iterable[Change], since: datetime, now: datetime) -> list[Outage]:
    """The outages within the time, oldest first; `changes` are the breaker's in it, oldest first."""
    outages: list[Outage] = []
    began_at: datetime | None = None
    is_first = True
    for change in changes:
        if is_first and change.from_state != State.CLOSED:
            began_at = since
        is_first = False
        if change.to_state == State.CLOSED:
            if began_at is not None:
                outages.append(Outage(began_at, change.at))
            began_at = None
        elif began_at is None:
            began_at = change.at
    if is_first and breaker.state != State.CLOSED:
        began_at = max(breaker.left_closed_at or since, since)
    if began_at is not None:
        outages.append(Outage(began_at, max(now, began_at)))
    return outages


def list_outages(breakers: Iterable[Breaker], since: datetime, now: datetime) -> dict[int, list[Outage]]:
    """The outages of each breaker by its id, in one query for all."""
    rows = {breaker.pk: breaker for breaker in breakers}
    # Not the probes of an outage, of which a day has thousands.
    bounds = Q(from_state=State.CLOSED) | Q(to_state=State.CLOSED)
    newest = Transition.objects.filter(bounds, breaker__in=rows, at__gt=since).order_by("-at", "-id")
    transitions: dict[int, list[Change]] = {pk: [] for pk in rows}
    found = list(newest.values_list("breaker", "at", "from_state", "to_state")[:MOST_TRANSITIONS])
    for pk, at, from_state, to_state in found:
        transitions[pk].append(Change(at, from_state, to_state))
    if len(found) == MOST_TRANSITIONS:
        since = found[-1][1]
    return {pk: find_outages(row, reversed(transitions[pk]), since, now) for pk, row in rows.items()}


def add_current(outages: list[Outage], left_closed_at: datetime | None, now: datetime) -> list[Outage]:
    """With the outage that Redis tells of, if it is not on record yet; `left_closed_at` is None if there is none."""
    if not left_closed_at or (outages and outages[-1].ended_at >= left_closed_at):
        return outages
    return [*outages, Outage(left_closed_at, max(now, left_closed_at))]


def count_flaps(outages: Iterable[Outage], now: datetime) -> int:
    """How often it left closed of late; 0 if that is not often enough to speak of."""
    count = sum(outage.began_at > now - FLAPPING_WITHIN for outage in outages)
    return count if count >= FLAPPING_COUNT else 0


def sum_days(outages: list[Outage], first: date, last: date) -> list[Day]:
    """Time not closed on each day, in the console's time zone."""
    days = []
    day = first
    while day <= last:
        start, end = start_of_day(day), start_of_day(day + DAY)
        inside = [outage for outage in outages if outage.began_at < end and outage.ended_at > start]
        seconds = sum(
            (min(outage.ended_at, end) - max(outage.began_at, start)).total_seconds() for outage in inside
        )
        days.append(Day(day, seconds, len(inside)))
        day += DAY
    return days
