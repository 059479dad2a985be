from collections.abc import Iterable
from typing import Any

import django_tables2 as tables

from dashboard.columns import TemplateCell, TimeColumn
from dashboard.markup import markup
from dashboard.models import Run, RunEvent
from dashboard.runs.queries import Progress

STATE_TONES = {
    Run.State.PENDING: "info",
    Run.State.RUNNING: "info",
    Run.State.PAUSING: "warn",
    Run.State.PAUSED: "warn",
    Run.State.CANCELLING: "warn",
    Run.State.CANCELLED: "mute",
    Run.State.FINISHED: "good",
    Run.State.FAILED: "bad",
}


def find_tone(run: Run, progress: Progress | None = None) -> str:
    """A run that ended as it should is not fine if what it did went wrong."""
    if run.state == Run.State.FINISHED and progress:
        if progress.troubles:
            return "warn"
        if progress.remarkable and not progress.has_good:
            return "mute"
    return STATE_TONES[Run.State(run.state)]


class RunEventTable(tables.Table):
    at = TimeColumn(verbose_name="When", is_absolute=True)
    state = tables.Column()
    actor = tables.Column(verbose_name="By", attrs={"td": {"class": "who"}})
    note = tables.Column()

    class Meta:
        orderable = False
        default = ""

    def __init__(self, rows: Iterable[RunEvent], *, run: Run, tone: str) -> None:
        """`tone` is the colour of the run's own state, as its page has it."""
        super().__init__(rows)
        self.tones = STATE_TONES | {Run.State(run.state): tone}

    def render_state(self, record: RunEvent) -> str:
        tone = self.tones[Run.State(record.state)]
        return markup('<span class="badge {}">{}</span>', tone, record.get_state_display())


class RunTable(tables.Table):
    title = tables.Column(verbose_name="Run", linkify=("runs:run", {"run_id": tables.A("pk")}))
    state = tables.Column()
    progress = TemplateCell("runs/_meter_cell.html", verbose_name="Progress", empty_values=())
    requested_by = tables.Column(verbose_name="By", attrs={"td": {"class": "who"}})
    created_at = TimeColumn(verbose_name="Asked")

    class Meta:
        orderable = False
        default = "–"
        row_attrs = {"id": lambda record: f"run-{record.pk}"}

    def __init__(self, rows: list[Run], *, progress: dict[int, Progress], **kwargs: Any) -> None:
        super().__init__(rows, **kwargs)
        self.by_run = progress

    def render_title(self, record: Run) -> str:
        return markup('<span class="dim">{}</span> {}', record.pk, record.title)

    def render_state(self, record: Run) -> str:
        tone = find_tone(record, self.by_run[record.pk])
        return markup('<span class="badge {}">{}</span>', tone, record.get_state_display())

    def context_progress(self, record: Run) -> dict[str, Any]:
        return {"progress": self.by_run[record.pk]}
