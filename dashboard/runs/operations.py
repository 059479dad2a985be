"""What people do with runs."""

from collections.abc import Sequence
from uuid import UUID

from django.db import IntegrityError, transaction

from dashboard import audit
from dashboard.models import Lane, Run, RunEvent
from dashboard.runs import dispatch, states
from dashboard.runs.kinds import get_kind
from dashboard.runs.states import RunStateError, State


def create_run(
    kind: str,
    *,
    title: str,
    lane_totals: Sequence[int],
    request_key: UUID,
    actor: audit.Actor,
    reason: str = "",
    options: dict[str, object] | None = None,
) -> tuple[Run, bool]:
    """Write the run and its lanes; call it inside `audit.action`, and dispatch afterwards.

    The second value is False if a run with this request key exists already: then that run is returned, and the
    entry should say so.
    """
    get_kind(kind)
    try:
        with transaction.atomic():
            run = Run.objects.create(
                kind=kind,
                title=title[:200],
                request_key=request_key,
                requested_by=str(actor),
                reason=reason,
                options=options or {},
            )
    except IntegrityError:
        return Run.objects.get(request_key=request_key), False
    Lane.objects.bulk_create(
        Lane(run=run, number=number, total=total) for number, total in enumerate(lane_totals)
    )
    RunEvent.objects.create(run=run, state=State.PENDING, actor=str(actor), note=reason)
    return run, True


def pause_run(run: Run, *, actor: audit.Actor) -> None:
    """Stop after the slice in hand."""
    with audit.action("run.pause", actor=actor, subject=run):
        change_state(run, State.PAUSING, actor=actor)
        states.settle(run.pk)


def resume_run(run: Run, *, actor: audit.Actor) -> None:
    """Go on where the run was paused."""
    with audit.action("run.resume", actor=actor, subject=run):
        change_state(run, State.PENDING, actor=actor)
    dispatch.dispatch(run)


def cancel_run(run: Run, *, actor: audit.Actor, reason: str) -> None:
    """End the run after the slice in hand; what it has done stays done."""
    with audit.action("run.cancel", actor=actor, subject=run, reason=reason):
        change_state(run, State.CANCELLING, actor=actor, note=reason)
        states.settle(run.pk)


def note_run(run: Run, note: str) -> None:
    """Say something in the run's log, once, that changes nothing about its state."""
    with transaction.atomic():
        # Two lanes may want to say the same.
        state = Run.objects.select_for_update().values_list("state", flat=True).get(pk=run.pk)
        RunEvent.objects.get_or_create(run=run, note=note, defaults={"state": state, "actor": states.SYSTEM})


def change_state(run: Run, to: State, *, actor: audit.Actor, note: str = "") -> None:
    if not states.move(run.pk, to, actor=str(actor), note=note):
        run.refresh_from_db()
        raise RunStateError(f"Run {run.pk} is {run.get_state_display().lower()}; that cannot be done now.")
