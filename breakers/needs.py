"""Breakers on the overview: what Postgres last heard, since every page asks."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils import timezone

from breakers.models import Breaker, State, Trip
from breakers.queries import find_last_answer
from breakers.rows import Row
from dashboard.attention import Need
from dashboard.templatetags.console import clause, say_ago
from dashboard.workers.heartbeats import SILENT_AFTER_SECONDS

# More than these are one thing that needs a person, not many.
MOST_NEEDS = 5
MOST_COUNTED = 1000
# The documents' limit for an alert; it counts from leaving closed.
OPEN_TOO_LONG = timedelta(minutes=10)


def find_open() -> Iterator[Need]:
    not_closed = Breaker.objects.exclude(state=State.CLOSED)
    rows = list(not_closed.order_by("left_closed_at")[: MOST_NEEDS + 1])
    silent_since = find_silence() if rows else None
    if len(rows) > MOST_NEEDS:
        count = not_closed[:MOST_COUNTED].count()
        names = f"{', '.join(str(row) for row in rows[:3])} and {count - 3:,} more"
        url, link = reverse("breakers:breakers"), "See the breakers"
        if silent_since:
            yield Need(
                f"{count:,} breakers were not closed",
                f"{names}. {last_heard(silent_since)}",
                url,
                link,
                "warn",
            )
        else:
            yield Need(
                f"{count:,} breakers are not closed", f"{names} refuse calls, or most of them.", url, link
            )
        return
    trips = {trip.breaker_id: trip for trip in Trip.objects.filter(breaker__in=rows, ended_at=None)}
    for row in rows:
        yield describe(row, trips.get(row.pk), silent_since if row.source == Breaker.OURS else None)


def find_silence() -> datetime | None:
    """When Redis last answered beat, if that is too long ago to go by; None: it answers, or never did."""
    last = find_last_answer()
    return last if last and timezone.now() - last > timedelta(seconds=SILENT_AFTER_SECONDS) else None


def last_heard(silent_since: datetime) -> str:
    return f"So it was when Redis last answered, {say_ago(silent_since)}; how it is now is unknown."


def describe(breaker: Breaker, trip: Trip | None, silent_since: datetime | None) -> Need:
    """What is wanted of a breaker that is not closed, or was not when Redis last answered."""
    url = Row(breaker, None, is_unknown=False).url
    users = f" Used by {', '.join(breaker.used_by)}." if breaker.used_by else ""
    if trip:
        now = f" {last_heard(silent_since)}" if silent_since else ""
        sentence = f"{trip.actor} said: {clause(trip.reason)}.{now}{users}"
        return Need(
            f"{breaker} {'was' if silent_since else 'is'} held open", sentence, url, "See the breaker", "warn"
        )
    error = f" Last error: {clause(breaker.last_error)}." if breaker.last_error else ""
    left_at = breaker.left_closed_at or breaker.changed_at
    state = breaker.get_state_display().lower()
    if silent_since:
        sentence = f"{last_heard(silent_since)}{error}{users}"
        return Need(f"{breaker} was {state}", sentence, url, "See the breaker", "warn")
    return Need(
        f"{breaker} is {state}",
        f"It left closed {say_ago(left_at)}.{error}{users}",
        url,
        "See the breaker",
        "bad" if timezone.now() - left_at > OPEN_TOO_LONG else "warn",
    )
