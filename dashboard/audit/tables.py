from typing import Any

import django_tables2 as tables

from dashboard.actions import find_action
from dashboard.columns import BadgeColumn, TemplateCell, TimeColumn
from dashboard.models import AuditEntry

OUTCOME_TONES = {AuditEntry.Outcome.SUCCEEDED: "good", AuditEntry.Outcome.FAILED: "bad"}


class AuditTable(tables.Table):
    at = TimeColumn(verbose_name="When")
    actor = tables.Column(verbose_name="Who")
    action = tables.Column(verbose_name="Did what", attrs={"td": {"class": "mono"}})
    subject = tables.Column(verbose_name="To what")
    outcome = BadgeColumn(OUTCOME_TONES)
    details = TemplateCell("audit/_details_cell.html", verbose_name="Why and how", empty_values=())
    address = tables.Column(verbose_name="From", attrs={"td": {"class": "mono dim"}})

    class Meta:
        orderable = False
        default = "–"
        row_attrs = {"id": lambda record: f"entry-{record.pk}"}

    def context_details(self, record: AuditEntry) -> dict[str, Any]:
        action = find_action(record.action)
        return {"entry": record, "description": action.description if action else "Not installed any more."}
