from typing import Any

import django_tables2 as tables

from dashboard.columns import NumberColumn, TemplateCell, TimeColumn
from sources.queries import SourceRow


class SourceTable(tables.Table):
    name = TemplateCell("sources/_name_cell.html", verbose_name="Source", empty_values=())
    health = TemplateCell("sources/_health_cell.html", verbose_name="Health", empty_values=())
    delay = TemplateCell("sources/_delay_cell.html", verbose_name="Last look", empty_values=())
    letters = TemplateCell(
        "sources/_letters_cell.html",
        verbose_name="Open letters",
        empty_values=(),
        attrs=NumberColumn.attrs,
    )
    owed = NumberColumn(accessor="owed_label", verbose_name="To be written back")
    abilities = TemplateCell("sources/_abilities_cell.html", verbose_name="Not possible", empty_values=())

    class Meta:
        orderable = False
        default = "–"
        row_attrs = {"id": lambda record: f"source-{record.name}"}

    def give(self, record: SourceRow) -> dict[str, Any]:
        return {"row": record}

    context_name = context_health = context_delay = context_letters = context_abilities = give


class MovedTable(tables.Table):
    at = TimeColumn(verbose_name="When")
    letter = tables.Column(
        accessor="letter_id",
        linkify=("dlq:letter", {"letter_id": tables.A("letter_id")}),
        verbose_name="Letter",
    )
    key = tables.Column(verbose_name="Row", attrs={"td": {"class": "mono"}})
    actor = tables.Column(verbose_name="Who", attrs={"td": {"class": "who"}})
    wanted = tables.Column(verbose_name="Wanted", attrs={"td": {"class": "mono"}})
    found = tables.Column(verbose_name="Found", default="gone", attrs={"td": {"class": "mono"}})

    class Meta:
        orderable = False
        default = "–"
