"""What people do with projections that others run."""

from uuid import UUID

from dashboard import audit
from dashboard.models import Run
from dashboard.runs.dispatch import dispatch
from dashboard.runs.operations import create_run
from projections.foreign.reset import ForeignReset
from projections.models import ForeignProjection
from projections.operations.errors import ProjectionStateError


def reset_foreign_checkpoint(
    row: ForeignProjection, stamp: str, *, actor: audit.Actor, reason: str, request_key: UUID
) -> Run:
    """Take a foreign checkpoint back to before the first event, as a run; `stamp` is the one that was confirmed."""
    with audit.action("projection.reset", actor=actor, subject=row, reason=reason) as entry:
        ForeignProjection.objects.select_for_update().get(pk=row.pk)
        busy = Run.objects.filter(kind=ForeignReset.name, options__foreign=row.pk).exclude(
            state__in=Run.ENDED
        )
        if found := busy.exclude(request_key=request_key).first():
            raise ProjectionStateError(f"Run {found.pk} resets {row} already; wait for it.")
        if not row.has_checkpoint:
            raise ProjectionStateError(f"{row} has no checkpoint; there is nothing to reset.")
        run, _ = create_run(
            ForeignReset.name,
            title=f"Reset the checkpoint of {row}",
            lane_totals=[1],
            request_key=request_key,
            actor=actor,
            reason=reason,
            options={"foreign": row.pk, "stamp": stamp},
        )
        entry.details = {"run": run.pk, "from": row.checkpoint}
    dispatch(run)
    return run
