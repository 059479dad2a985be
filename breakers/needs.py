"""Breakers on the overview: what Postgres last heard, since every page asks."""

from collections.abc import Iterator
from datetime import timedelta

from django.urls import reverse
from django.utils import timezone

from breakers.models import Breaker, State, Trip
from breakers.rows import Row
from dashboard.attention import Need
from dashboard.templatetags.console import duration

# More than these are one thing that needs a person, not many.
MOST_NEEDS = 5
MOST_COUNTED = 1000
# The documents' limit for an alert; it counts from leaving closed.
OPEN_TOO_LONG = timedelta(minutes=10)


def find_open() -> Iterator[Need]:
    not_closed = Breaker.objects.exclude(state=State.CLOSED)
    rows = list(not_closed.order_by("left_closed_at")[: MOST_NEEDS + 1])
    if len(rows) > MOST_NEEDS:
        count = not_closed[:MOST_COUNTED].count()
        names = ", ".join(str(row) for row in rows[:3])
        yield Need(
            f"{count:,} breakers are open",
            f"{names} and {count - 3:,} more refuse calls.",
            reverse("breakers:breakers"),
            "See the breakers",
        )
        return
    trips = {trip.breaker_id: trip for trip in Trip.objects.filter(breaker__in=rows, ended_at=None)}
    for row in rows:
        yield describe(row, trips.get(row.pk))


def describe(breaker: Breaker, trip: Trip | None) -> Need:
    url = Row(breaker, None, is_unknown=False).url
    users = f" Used by {', '.join(breaker.used_by)}." if breaker.used_by else ""
    if trip:
        sentence = f"{trip.actor} said: {trip.reason}.{users}"
        return Need(f"{breaker} is held open", sentence, url, "See the breaker", "warn")
    error = f" {breaker.last_error.rstrip('.')}." if breaker.last_error else ""
    open_for = timezone.now() - (breaker.left_closed_at or breaker.changed_at)
    return Need(
        f"{breaker} is {breaker.get_state_display().lower()}",
        f"It left closed {duration(open_for.total_seconds())} ago.{error}{users}",
        url,
        "See the breaker",
        "bad" if open_for > OPEN_TOO_LONG else "warn",
    )
