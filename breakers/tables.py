from typing import Any

import django_tables2 as tables
from django.utils.html import format_html

from breakers.models import State, Transition
from breakers.rows import STRIP_HOURS, Row
from breakers.strips import draw_strip
from dashboard.columns import NumberColumn, TemplateCell

STATE_TONES = {State.CLOSED: "good", State.HALF_OPEN: "warn", State.OPEN: "bad"}
# An error's whole text is on the breaker's own page.
ERROR_LENGTH = 120


class BreakerTable(tables.Table):
    name = TemplateCell("breakers/_name_cell.html", verbose_name="Breaker", empty_values=())
    state = TemplateCell("breakers/_state_cell.html", empty_values=())
    open_for = TemplateCell("breakers/_open_for_cell.html", verbose_name="Open for", empty_values=())
    counts = TemplateCell("breakers/_counts_cell.html", verbose_name="Failures", empty_values=())
    refused = NumberColumn(accessor="live__short_circuited_count", verbose_name="Refused", default="–")
    last_error = tables.Column(verbose_name="Last error", default="–")
    used_by = tables.Column(verbose_name="Used by", default="–")
    strip = TemplateCell("breakers/_strip_cell.html", verbose_name=f"Last {STRIP_HOURS} h", empty_values=())

    class Meta:
        orderable = False
        row_attrs = {"id": lambda record: f"breaker-{record.breaker.source}-{record.breaker.name}"}

    def context_name(self, row: Row) -> dict[str, Any]:
        return {"row": row}

    context_state = context_open_for = context_counts = context_name

    def context_strip(self, row: Row) -> dict[str, Any]:
        return {"strip": draw_strip(row.outages, row.now)}

    def render_last_error(self, value: str) -> str:
        shown = value if len(value) <= ERROR_LENGTH else f"{value[:ERROR_LENGTH]}…"
        return format_html('<span class="error-text" title="{}">{}</span>', value, shown)

    def render_used_by(self, value: list[str]) -> str:
        return ", ".join(value)


class TransitionTable(tables.Table):
    change = TemplateCell("breakers/_change_cell.html", verbose_name="Became", empty_values=())
    at = TemplateCell("breakers/_at_cell.html", verbose_name="When", empty_values=())
    cause = tables.Column(verbose_name="Why")
    error = tables.Column(default="–", attrs={"td": {"class": "error-text"}})

    class Meta:
        orderable = False
        row_attrs = {"id": lambda record: f"transition-{record.pk}"}

    def context_change(self, record: Transition) -> dict[str, Any]:
        return {"transition": record, "tone": STATE_TONES[State(record.to_state)]}

    def context_at(self, record: Transition) -> dict[str, Any]:
        return {"transition": record}
