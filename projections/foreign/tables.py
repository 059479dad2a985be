from typing import Any

import django_tables2 as tables

from dashboard.columns import TemplateCell
from projections.foreign.queries import ForeignRow
from projections.tables import number_cell

CELLS = "projections/foreign"


class ForeignTable(tables.Table):
    name = TemplateCell(f"{CELLS}/_name_cell.html", verbose_name="Projection", empty_values=())
    state = TemplateCell(f"{CELLS}/_state_cell.html", verbose_name="State", empty_values=())
    lag = number_cell(f"{CELLS}/_lag_cell.html", "Lag, events")
    delay = number_cell(f"{CELLS}/_delay_cell.html", "Delay")
    letters = number_cell(f"{CELLS}/_letters_cell.html", "Letters")
    trend = TemplateCell(f"{CELLS}/_spark_cell.html", verbose_name="Lag, last hour", empty_values=())

    class Meta:
        orderable = False
        default = "–"
        row_attrs = {"id": lambda record: f"foreign-{record.projection.pk}"}

    def give(self, record: ForeignRow) -> dict[str, Any]:
        return {"row": record}

    context_name = context_state = context_lag = context_delay = context_letters = context_trend = give
