"""Times, durations and links as the console writes them."""

from datetime import datetime
from functools import lru_cache
from typing import Any

from django import template
from django.template.context import Context
from django.utils import timezone
from django.utils.safestring import SafeString

from dashboard import access
from dashboard.actions import find_action
from dashboard.drawing import draw_rows
from dashboard.markup import markup

register = template.Library()

UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


@register.filter
def duration(seconds: float | None) -> str:
    """In at most two units: "43 s", "6 min", "3 d 4 h"; a dash when it is not known."""
    if seconds is None:
        return "–"
    left = int(seconds)
    parts: list[str] = []
    for size, unit in UNITS:
        if left >= size or (unit == "s" and not parts):
            parts.append(f"{left // size} {unit}")
            left %= size
        if len(parts) == 2 or (parts and unit == "min"):
            break
    return " ".join(parts)


@register.filter
def ago(value: datetime | None) -> str:
    """A time relative to now, with the absolute one on hover; a dash for no time."""
    if value is None:
        return "–"
    words = say_ago(value)
    return markup('<time datetime="{}" title="{}">{}</time>', value.isoformat(), absolute(value), words)


def say_ago(value: datetime) -> str:
    """The same in words only, for a sentence."""
    seconds = (timezone.now() - value).total_seconds()
    return "just now" if seconds < 2 else f"{duration(seconds)} ago"


@register.filter
def at(value: datetime | None) -> str:
    """A time in full, with its zone; for pages about one thing."""
    if value is None:
        return "–"
    return markup('<time datetime="{}">{}</time>', value.isoformat(), absolute(value))


@register.filter
def clock(value: datetime) -> str:
    """The time of day with its zone, for something of today; with the date if it is not."""
    local = timezone.localtime(value)
    return local.strftime("%H:%M %Z" if local.date() == timezone.localdate() else "%Y-%m-%d %H:%M %Z")


def absolute(value: datetime) -> str:
    # Nobody has a zone of their own: asking for it costs more than the rest.
    return f"{value.astimezone(timezone.get_default_timezone()):%Y-%m-%d %H:%M:%S %Z}"


@register.filter
def clause(words: str) -> str:
    """What somebody wrote, without the full stop at its end, to stand within a sentence of ours."""
    return words.rstrip().rstrip(".")


@register.filter
def in_words(action: str) -> str:
    """What an action of the audit trail is; its name where the code that did it is no longer installed."""
    found = find_action(action)
    return found.description if found else action


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
