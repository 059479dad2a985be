"""Rebuilds and resets, started or asked for."""

from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from dashboard import audit
from dashboard.models import Run
from dashboard.runs.dispatch import dispatch
from dashboard.runs.operations import create_run
from projections.definition import find_projector
from projections.models import Criticality, Projection, RebuildRequest
from projections.operations.errors import ProjectionStateError
from projections.rebuild import find_active_run
from projections.store import get_head, get_tail

# A request that nobody decides within a working day is stale: what it was about has moved on.
REQUEST_LASTS = timedelta(hours=24)
State = RebuildRequest.State


def start_rebuild(row: Projection, *, actor: audit.Actor, reason: str, request_key: UUID) -> Run:
    """Empty the read model and handle every event again, as a run."""
    with audit.action("projection.rebuild", actor=actor, subject=row, reason=reason) as entry:
        run = create_rebuild(row, actor=actor, reason=reason, request_key=request_key)
        entry.details = {"run": run.pk, "events": run.options["events"]}
    dispatch(run)
    return run


def create_rebuild(row: Projection, *, actor: audit.Actor, reason: str, request_key: UUID) -> Run:
    """Write the run; two who ask at once meet at the projection's row."""
    Projection.objects.select_for_update().get(pk=row.pk)
    if found := Run.objects.filter(request_key=request_key).first():
        return found
    projector = find_projector(row.name)
    if projector is None or not projector.supports_rebuild:
        raise ProjectionStateError(
            f"{row} cannot be rebuilt: its code has no truncate() to empty the read model."
        )
    refuse_if_busy(row)
    events = get_head() - get_tail()
    run, _ = create_run(
        "rebuild",
        title=f"Rebuild {row.name}",
        lane_totals=[events],
        request_key=request_key,
        actor=actor,
        reason=reason,
        options={"projection": row.name, "events": events},
    )
    return run


def reset_checkpoint(
    row: Projection,
    position: int,
    *,
    actor: audit.Actor,
    reason: str,
    request_key: UUID,
    was_at: int | None = None,
) -> Run:
    """Set the checkpoint to a position, as a run; `was_at` is where it stood when that was confirmed."""
    with audit.action("projection.reset", actor=actor, subject=row, reason=reason) as entry:
        row = Projection.objects.select_for_update().get(pk=row.pk)
        refuse_if_busy(row, but=request_key)
        if not Run.objects.filter(request_key=request_key).exists():
            refuse_if_moved(row, position, was_at)
        if problem := why_no_reset(row, position):
            raise ProjectionStateError(problem)
        run, _ = create_run(
            "reset",
            title=f"Reset {row.name} to {position:,}",
            lane_totals=[1],
            request_key=request_key,
            actor=actor,
            reason=reason,
            options={"projection": row.name, "position": position, "is_back": position < row.position},
        )
        entry.details = {"run": run.pk, "from": row.position, "to": position}
    dispatch(run)
    return run


def refuse_if_moved(row: Projection, position: int, was_at: int | None) -> None:
    """What was to be left out must not be handled twice instead, nor the other way round."""
    if was_at is not None and (position < was_at, position > was_at) != (
        position < row.position,
        position > row.position,
    ):
        raise ProjectionStateError(
            f"{row} was at {was_at:,} when you were asked, and is at {row.position:,} now. Nothing was changed; look "
            "again at what follows."
        )


def why_no_reset(row: Projection, position: int) -> str:
    """What speaks against this position; empty: nothing does."""
    tail, head = get_tail(), get_head()
    if not tail <= position <= head:
        has = f"events from {tail + 1:,} to {head:,}" if head > tail else "no event"
        return f"There is no position {position:,}; the store has {has}."
    if position > row.position and row.criticality == Criticality.LEDGER:
        # What may not skip one event may not leave out many.
        return f"{row} is a ledger: it may go back, and not forward past events that it has not handled."
    return ""


def refuse_if_busy(row: Projection, but: UUID | None = None) -> None:
    run = find_active_run(row.name)
    if run and run.request_key != but:
        raise ProjectionStateError(
            f"Run {run.pk} ({run.title}) is working on {row}; wait for it or cancel it."
        )


def request_rebuild(row: Projection, *, actor: audit.Actor, reason: str) -> RebuildRequest:
    """Ask somebody who may rebuild; one open request for a projection at a time."""
    with audit.action("projection.request_rebuild", actor=actor, subject=row, reason=reason) as entry:
        if not reason:
            raise ProjectionStateError("Say why it should be rebuilt: somebody else has to decide.")
        try:
            with transaction.atomic():
                request = RebuildRequest.objects.create(
                    projection=row,
                    requested_by=str(actor),
                    reason=reason,
                    expires_at=timezone.now() + REQUEST_LASTS,
                )
        except IntegrityError:
            raise ProjectionStateError(f"A rebuild of {row} has been asked for already.") from None
        entry.details = {"request": request.pk}
    return request


def grant_rebuild(request: RebuildRequest, *, actor: audit.Actor, reason: str, request_key: UUID) -> Run:
    with audit.action(
        "projection.grant_rebuild", actor=actor, subject=request.projection, reason=reason
    ) as entry:
        decide(request, State.GRANTED, actor, reason)
        why = f"{request.reason} (asked for by {request.requested_by})"
        run = create_rebuild(request.projection, actor=actor, reason=why, request_key=request_key)
        RebuildRequest.objects.filter(pk=request.pk).update(run=run)
        entry.details = {"request": request.pk, "run": run.pk, "requested_by": request.requested_by}
    dispatch(run)
    return run


def deny_rebuild(request: RebuildRequest, *, actor: audit.Actor, reason: str) -> None:
    with audit.action(
        "projection.deny_rebuild", actor=actor, subject=request.projection, reason=reason
    ) as entry:
        decide(request, State.DENIED, actor, reason)
        entry.details = {"request": request.pk, "requested_by": request.requested_by}


def decide(request: RebuildRequest, state: State, actor: audit.Actor, reason: str) -> None:
    found = RebuildRequest.objects.filter(pk=request.pk, state=State.OPEN, expires_at__gt=Now())
    if not found.update(state=state, decided_by=str(actor), decided_at=Now(), decision_reason=reason):
        request.refresh_from_db()
        word = "expired" if request.state == State.OPEN else request.get_state_display().lower()
        raise ProjectionStateError(f"Request {request.pk} is {word} already.")
