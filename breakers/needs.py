"""What needs a person: breakers that are not closed."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from django.urls import reverse
from django.utils import timezone

from breakers.models import Breaker, State
from breakers.readings import find_silent
from breakers.rows import Row
from breakers.trips import find_holding
from dashboard.attention import Need
from dashboard.words import clause, counted, say_ago

# More than these are one thing that needs a person, not many.
MOST_NEEDS = 5
MOST_COUNTED = 1000
# The documents' limit for an alert; it counts from leaving closed.
OPEN_TOO_LONG = timedelta(minutes=10)


def find_open() -> Iterator[Need]:
    """By what Postgres last heard, since every page asks; one that has asked Redis itself has `describe_open`."""
    not_closed = Breaker.objects.exclude(state=State.CLOSED)
    breakers = list(not_closed.order_by("left_closed_at")[: MOST_NEEDS + 1])
    if not breakers:
        return
    silent = find_silent()
    trips = find_holding(breakers)
    rows = [Row(one, silence=silent.get(one.source), trip=trips.get(one.pk)) for one in breakers]
    count = known_count = len(rows)
    if count > MOST_NEEDS:
        count = not_closed[:MOST_COUNTED].count()
        known_count = not_closed.exclude(source__in=silent)[:MOST_COUNTED].count()
    yield from describe_open(rows, count, known_count)


def describe_open(rows: Sequence[Row], count: int, known_count: int) -> Iterator[Need]:
    """What is wanted of breakers that are not closed, or were not when last read; `known_count` are for certain."""
    if count <= MOST_NEEDS:
        yield from map(describe, rows)
        return
    names = f"{', '.join(row.full_name for row in rows[:3])} and {count - 3:,} more"
    url, link = reverse("breakers:breakers"), "See the breakers"
    if known_count == count:
        yield Need(f"{count:,} breakers are not closed", f"{names} refuse calls, or most of them.", url, link)
    elif known_count:
        headline = f"{counted(known_count, 'breaker is', 'breakers are')} not closed, others are unknown"
        unknown = counted(
            count - known_count,
            "of them was not closed when last read; how it is now is unknown",
            "of them were not closed when last read; how they are now is unknown",
        )
        yield Need(headline, f"{names}. {unknown}.", url, link)
    else:
        sentence = f"{names}. {say_last_read(rows[0], 'how all of them are now')}"
        yield Need(f"{count:,} breakers were not closed", sentence, url, link, "warn")


def describe(row: Row) -> Need:
    sentences = [say_last_read(row)] if row.is_unknown else []
    left_at = row.left_closed_at or row.breaker.changed_at
    if row.trip:
        when = say_ago(row.trip.created_at)
        sentences.append(f"{row.trip.actor} tripped it {when}: {clause(row.trip.reason)}.")
    else:
        sentences.append(f"It left closed {say_ago(left_at)}.")
        if row.last_error:
            sentences.append(f"Last error: {clause(row.last_error)}.")
    if row.breaker.used_by:
        sentences.append(f"Used by {', '.join(row.breaker.used_by)}.")
    is_certain = not row.trip and not row.is_unknown
    return Need(
        f"{row.full_name} {'was' if row.is_unknown else 'is'} {row.label.lower()}",
        " ".join(sentences),
        row.url,
        "See the breaker",
        "bad" if is_certain and timezone.now() - left_at > OPEN_TOO_LONG else "warn",
    )


def say_last_read(row: Row, how: str = "how it is now") -> str:
    when = f", {say_ago(row.unknown_since)}" if row.unknown_since else ""
    return f"So it was when last read{when}; {how} is unknown."
