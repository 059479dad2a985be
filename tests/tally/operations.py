from uuid import UUID, uuid4

from dashboard import audit
from dashboard.models import Run
from dashboard.runs.dispatch import dispatch
from dashboard.runs.operations import create_run


def start_tally(
    *lane_totals: int, actor: audit.Actor = "tester", request_key: UUID | None = None, **options: object
) -> Run:
    with audit.action("tally.start", actor=actor) as entry:
        run, _ = create_run(
            "tally",
            title="Count marks",
            lane_totals=lane_totals,
            request_key=request_key or uuid4(),
            actor=actor,
            options=options,
        )
        entry.subject = run
    dispatch(run)
    return run
