"""Times, durations and links as the console writes them."""

from datetime import datetime
from functools import lru_cache
from typing import Any

from django import template
from django.template.context import Context
from django.utils.safestring import SafeString

from dashboard import access
from dashboard.drawing import draw_rows
from dashboard.markup import markup
from dashboard.words import absolute, clause, clock, counted, duration, say_ago

register = template.Library()
register.filter(clause)
register.filter(clock)
register.filter(duration)


@register.filter
def ago(value: datetime | None) -> str:
    """A time relative to now, with the absolute one on hover; a dash for no time."""
    if value is None:
        return "–"
    words = say_ago(value)
    return markup('<time datetime="{}" title="{}">{}</time>', value.isoformat(), absolute(value), words)


@register.filter
def at(value: datetime | None) -> str:
    """A time in full, with its zone; for pages about one thing."""
    if value is None:
        return "–"
    return markup('<time datetime="{}">{}</time>', value.isoformat(), absolute(value))


@register.filter(name="counted")
def count_in_template(number: int, words: str) -> str:
    """`{{ number|counted:"letter" }}`, or with both: `{{ number|counted:"event waits,events wait" }}`."""
    one, _, many = words.partition(",")
    return counted(number, one, many)


@register.filter
def by_word(command: str) -> SafeString:
    """A command that breaks between its words only: a browser would break it within --canary, too."""
    return SafeString(" ".join(markup("<span>{}</span>", word) for word in command.split(" ")))


@register.filter
def may(user: Any, action: str) -> bool:
    """Whether to draw a button; whether it works is decided in the view."""
    return access.may(user, action)


@register.simple_tag(takes_context=True)
def with_query(context: Context, **changes: Any) -> str:
    """The current address with some parameters changed; an empty value removes one."""
    params = context["request"].GET.copy()
    for name in ("after", "before", "at", "first"):
        params.pop(name, None)
    for name, value in changes.items():
        if value in ("", None):
            params.pop(name, None)
        else:
            params[name] = value
    return f"?{params.urlencode()}" if params else context["request"].path


@register.simple_tag
def table_rows(table: Any) -> SafeString:
    return draw_rows(table)


@register.simple_tag
@lru_cache(maxsize=20)
def options(values: tuple[str, ...]) -> SafeString:
    """The suggestions of a list that may be long, and seldom changes."""
    return SafeString("".join(markup("<option>{}</option>", value) for value in values))
