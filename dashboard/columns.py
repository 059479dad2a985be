"""Columns that more than one table uses."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import django_tables2 as tables
from django.template.loader import render_to_string

from dashboard.markup import markup
from dashboard.templatetags.console import ago, at


class TimeColumn(tables.Column):
    """A time as "2 min ago" with the whole of it on hover, or, on a page about one thing, in full."""

    def __init__(self, *, is_absolute: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.is_absolute = is_absolute

    def render(self, value: datetime) -> str:
        return at(value) if self.is_absolute else ago(value)


class BadgeColumn(tables.Column):
    """A state as a coloured word."""

    def __init__(self, tones: Mapping[Any, str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.tones = tones

    def render(self, value: str, record: Any, bound_column: Any) -> str:
        label = getattr(record, f"get_{bound_column.name}_display")()
        raw = getattr(record, bound_column.name)
        return markup('<span class="badge {}">{}</span>', self.tones[raw], label)


class NumberColumn(tables.Column):
    """A count, aligned to the right."""

    attrs = {"th": {"class": "num"}, "td": {"class": "num"}}


class TemplateCell(tables.Column):
    """A cell drawn by a small template; the table's `context_<column>` method says with what."""

    def __init__(self, template: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.template = template

    def render(self, record: Any, table: Any, bound_column: Any) -> str:
        return render_to_string(self.template, getattr(table, f"context_{bound_column.name}")(record))
