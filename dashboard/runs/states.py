"""The run's state machine: every move is one conditional update with its event, or it did not happen.

pending → running → finished            pausing → paused → pending (resumed)
pending, running → pausing              cancelling → cancelled
any but the ended → cancelling          running → failed (the run itself broke)
"""

from django.db import transaction
from django.db.models.functions import Now

from dashboard.models import Run, RunEvent
from dashboard.runs import lanes

State = Run.State
SYSTEM = "redrive"

ALLOWED_FROM: dict[State, tuple[State, ...]] = {
    State.RUNNING: (State.PENDING,),
    State.PAUSING: (State.PENDING, State.RUNNING),
    State.PAUSED: (State.PAUSING,),
    State.PENDING: (State.PAUSED,),
    State.CANCELLING: (State.PENDING, State.RUNNING, State.PAUSING, State.PAUSED),
    State.CANCELLED: (State.CANCELLING,),
    State.FINISHED: (State.PENDING, State.RUNNING, State.PAUSING),
    State.FAILED: (State.PENDING, State.RUNNING, State.PAUSING),
}


class RunStateError(Exception):
    """The run is in a state that does not allow this."""


def move(run_id: int, to: State, *, actor: str = SYSTEM, note: str = "") -> bool:
    """Move the run and note it; False if its state does not allow the move (someone was faster)."""
    changes: dict[str, object] = {"state": to}
    if to == State.RUNNING:
        changes["started_at"] = Now()
    if to in Run.ENDED:
        changes["ended_at"] = Now()
    if to == State.FAILED:
        changes["failure"] = note
    with transaction.atomic():
        moved = Run.objects.filter(pk=run_id, state__in=ALLOWED_FROM[to]).update(**changes)
        if moved:
            RunEvent.objects.create(run_id=run_id, state=to, actor=actor, note=note)
    return bool(moved)


def begin(run: Run) -> None:
    if run.state == State.PENDING:
        move(run.pk, State.RUNNING)


def is_workable(run_id: int) -> bool:
    return Run.objects.filter(pk=run_id, state__in=Run.WORKABLE).exists()


def settle(run_id: int) -> None:
    """Bring a run to rest that nobody works on: paused, cancelled or finished. Safe to call at any time.

    The run's row is locked, so that of two lanes that end together the second sees both. A claim that
    commits after we looked finds the state changed when it asks `is_workable`, and does nothing.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run_id)
        if not run.is_active or run.state == State.PAUSED:
            return
        lanes.fence_expired(run_id)
        # One that is expired and could not be fenced is locked: its holder's slice takes longer than the lease.
        if run.lanes.exclude(leased_until=None).exists():
            return
        if not run.lanes.filter(is_done=False).exists() and run.state != State.CANCELLING:
            move(run_id, State.FINISHED)
        elif run.state == State.PAUSING:
            move(run_id, State.PAUSED)
        elif run.state == State.CANCELLING:
            move(run_id, State.CANCELLED)
