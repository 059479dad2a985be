from typing import Any

import django_tables2 as tables
from django.urls import reverse

from dashboard.audit.tables import OUTCOME_TONES
from dashboard.columns import BadgeColumn, NumberColumn, TemplateCell, TimeColumn
from dashboard.markup import markup
from dashboard.models import AuditEntry
from projections.models import RebuildRequest
from projections.queries import Row

REQUEST_TONES = {
    RebuildRequest.State.OPEN: "warn",
    RebuildRequest.State.GRANTED: "good",
    RebuildRequest.State.DENIED: "mute",
    RebuildRequest.State.EXPIRED: "mute",
}
# What succeeded was to begin something; what became of it the run says, or the request.
BEGINNINGS = {
    "projection.reset": "Started",
    "projection.rebuild": "Started",
    "projection.grant_rebuild": "Started",
    "projection.request_rebuild": "Asked for",
}


def number_cell(template: str, name: str) -> TemplateCell:
    return TemplateCell(template, verbose_name=name, empty_values=(), attrs=NumberColumn.attrs)


class ProjectionTable(tables.Table):
    name = TemplateCell(
        "projections/_name_cell.html",
        verbose_name="Projection",
        empty_values=(),
        attrs={"td": {"class": "name"}},
    )
    state = TemplateCell("projections/_state_cell.html", verbose_name="State", empty_values=())
    lag = NumberColumn(accessor="measures__lag__events", verbose_name="Lag, events")
    delay = number_cell("projections/_delay_cell.html", "Delay")
    rates = number_cell("projections/_rates_cell.html", "In / out a second")
    eta = number_cell("projections/_eta_cell.html", "Done in")
    letters = number_cell("projections/_letters_cell.html", "Letters")
    trend = TemplateCell("projections/_spark_cell.html", verbose_name="Lag, last hour", empty_values=())

    class Meta:
        orderable = False
        default = "–"
        row_attrs = {"id": lambda record: f"projection-{record.projection.pk}"}

    def render_lag(self, value: int) -> str:
        return f"{value:,}"

    def give(self, record: Row) -> dict[str, Any]:
        return {"row": record}

    context_name = context_state = context_delay = context_rates = give
    context_eta = context_letters = context_trend = give


class SkipTable(tables.Table):
    at = TimeColumn(verbose_name="Skipped")
    projection = tables.Column(
        linkify=("projections:projection", {"projection_id": tables.A("projection_id")}),
        attrs={"td": {"class": "name"}},
    )
    event_type = tables.Column(verbose_name="Event", attrs={"td": {"class": "mono"}})
    stream = tables.Column(attrs={"td": {"class": "mono"}})
    position = NumberColumn()
    reason = tables.Column(attrs={"td": {"class": "reason"}})
    error_type = tables.Column(verbose_name="Error", attrs={"td": {"class": "mono"}})
    verbs = TemplateCell("projections/_skip_verbs_cell.html", verbose_name="", empty_values=())

    class Meta:
        orderable = False
        default = "–"

    def __init__(self, *args: Any, may_bring_back: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.may_bring_back = may_bring_back

    def render_position(self, value: int) -> str:
        return f"{value:,}"

    def render_reason(self, record: Any) -> str:
        return markup('{}<div class="dim">by {}</div>', record.reason, record.actor)

    def context_verbs(self, record: Any) -> dict[str, Any]:
        return {"skip": record, "may_bring_back": self.may_bring_back}


class RequestTable(tables.Table):
    requested_at = TimeColumn(verbose_name="Asked")
    projection = tables.Column(
        linkify=("projections:projection", {"projection_id": tables.A("projection_id")}),
        attrs={"td": {"class": "name"}},
    )
    requested_by = tables.Column(verbose_name="By")
    reason = tables.Column()
    state = BadgeColumn(REQUEST_TONES)
    decision = TemplateCell("projections/_decision_cell.html", verbose_name="Decision", empty_values=())

    class Meta:
        orderable = False
        default = "–"

    def __init__(self, *args: Any, may_decide: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.may_decide = may_decide

    def context_decision(self, record: RebuildRequest) -> dict[str, Any]:
        return {"asked": record, "may_decide": self.may_decide}


class OutcomeColumn(BadgeColumn):
    def render(self, value: str, record: AuditEntry, bound_column: Any) -> str:
        if record.outcome == AuditEntry.Outcome.SUCCEEDED and record.action in BEGINNINGS:
            return markup('<span class="badge info">{}</span>', BEGINNINGS[record.action])
        return super().render(value, record, bound_column)


class HistoryTable(tables.Table):
    at = TimeColumn(verbose_name="When", is_absolute=True)
    action = tables.Column(attrs={"td": {"class": "mono nowrap"}})
    outcome = OutcomeColumn(OUTCOME_TONES)
    actor = tables.Column(verbose_name="By", attrs={"td": {"class": "who"}})
    reason = tables.Column()
    run = tables.Column(
        accessor="details__run", linkify=lambda value: reverse("runs:run", args=[value]) if value else None
    )

    class Meta:
        orderable = False
        default = ""
