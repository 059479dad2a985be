"""What the breakers' templates need beyond the console's own filters."""

from collections.abc import Iterable

from django import template

from breakers.history import Day
from breakers.rows import Row
from breakers.tables import STATE_TONES
from dashboard.words import duration

register = template.Library()


@register.filter
def times(number: int, factor: int) -> int:
    return number * factor


@register.filter
def in_ms(seconds: float) -> str:
    return f"{seconds * 1000:g} ms"


@register.filter
def open_time(seconds: float) -> str:
    """How long it was not closed: it was, however short."""
    return duration(seconds) if seconds >= 1 else "less than 1 s"


@register.filter
def tone(row: Row) -> str:
    """The colour's meaning for the breaker's state."""
    return STATE_TONES[row.state]


@register.filter
def total_open(days: Iterable[Day]) -> float:
    return sum(day.open_seconds for day in days)
