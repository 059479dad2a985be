from typing import Any

import django_tables2 as tables

from breakers.models import State, Transition
from dashboard.columns import TemplateCell

STATE_TONES = {State.CLOSED: "good", State.HALF_OPEN: "warn", State.OPEN: "bad"}


class TransitionTable(tables.Table):
    change = TemplateCell("breakers/_change_cell.html", verbose_name="Became", empty_values=())
    at = TemplateCell("breakers/_at_cell.html", verbose_name="When", empty_values=())
    cause = tables.Column(verbose_name="Why", attrs={"td": {"class": "nowrap"}})
    error = tables.Column(default="–")

    class Meta:
        orderable = False
        row_attrs = {"id": lambda record: f"transition-{record.pk}"}

    def context_change(self, record: Transition) -> dict[str, Any]:
        return {"transition": record, "tone": STATE_TONES[State(record.to_state)]}

    def context_at(self, record: Transition) -> dict[str, Any]:
        return {"transition": record}
