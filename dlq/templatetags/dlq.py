from functools import lru_cache
from typing import Any

from django import template
from django.forms import BoundField, ChoiceField
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from dashboard.fields import EXAMPLE_TIME, TimeField
from dashboard.markup import markup
from dlq.models.words import Category, Status, Tier

register = template.Library()

STATUS_TONES = {
    Status.FAILED: "bad",
    Status.PARKED: "warn",
    Status.RESOLVED: "good",
    Status.DISCARDED: "mute",
}
STATUS_WORDS = {
    Status.FAILED: "Open",
    Status.PARKED: "Parked",
    Status.RESOLVED: "Resolved",
    Status.DISCARDED: "Discarded",
}
SELECTED = SafeString(" selected")


# The words are few, and every row of a list has two of them.
@register.simple_tag
@lru_cache(maxsize=100)
def status_badge(status: str, tier: str = "") -> SafeString:
    """The letter's status as a coloured word, and poison beside it."""
    known = Status(status)
    badge = markup('<span class="badge {}">{}</span>', STATUS_TONES[known], STATUS_WORDS[known])
    if tier == Tier.POISON:
        badge += markup(' <span class="badge poison">{}</span>', Tier.POISON.label)
    return badge


@register.simple_tag
@lru_cache(maxsize=100)
def category_word(category: str) -> SafeString:
    """The category with its own colour; an empty one is a parked letter's."""
    if not category:
        return SafeString("")
    return markup('<span class="category {}">{}</span>', category, Category(category).label.lower())


@register.simple_tag
def filter_field(field: BoundField, facets: dict[str, tuple[str, ...]]) -> SafeString:
    """A field of the filter bar with its label; by hand, since there are many and Django draws each by a template."""
    value = field.value() or ""
    label = markup('<label for="{}">{}</label>', field.id_for_label, field.label)
    if isinstance(field.field, ChoiceField):
        choices = format_html_join(
            "",
            '<option value="{}"{}>{}</option>',
            ((key, SELECTED if str(key) == value else "", word) for key, word in field.field.widget.choices),
        )
        template = '{}<select name="{}" id="{}">{}</select>'
        return markup(template, label, field.html_name, field.id_for_label, choices)
    return markup(
        '{}<input name="{}" id="{}" value="{}" maxlength="700" list="{}" placeholder="{}" autocomplete="off">',
        label,
        field.html_name,
        field.id_for_label,
        value,
        f"list-{field.name}" if field.name in facets else "",
        EXAMPLE_TIME if isinstance(field.field, TimeField) else "",
    )


@register.filter
def lookup(mapping: dict[str, Any], key: str) -> Any:
    return mapping.get(key, "")
