"""What to do about the event that a projection stopped at; each names the event, so that a late click is harmless."""

from django.db.models.functions import Now
from django.utils import timezone

from dashboard import audit
from dlq.api import Override, set_override
from projections.models import NATIVE, UNBLOCKED, Criticality, Projection
from projections.operations.consuming import get_state
from projections.operations.errors import ProjectionStateError
from projections.runtime.batch import Batch
from projections.runtime.clock import SystemClock
from projections.runtime.hand import LIVE
from projections.runtime.lock import try_lock_consumer
from projections.runtime.route import Router
from projections.store import StoredEvent
from projections.store.read import find_event

State = Projection.State


def resume_projection(row: Projection, *, actor: audit.Actor, reason: str = "") -> None:
    """Go on; an event that it stopped at, or waits to retry, is tried afresh and at once."""
    with audit.action("projection.resume", actor=actor, subject=row, reason=reason):
        found = Projection.objects.filter(pk=row.pk).exclude(state=State.REBUILDING)
        if not found.update(state=State.RUNNING, state_since=Now(), **UNBLOCKED):
            raise ProjectionStateError(f"{row} is {get_state(row)}; it goes on by itself.")


def skip_event(row: Projection, position: int, *, actor: audit.Actor, reason: str) -> None:
    """Go past the event without its effect, now and in every rebuild."""
    with audit.action("projection.skip", actor=actor, subject=row, reason=reason) as entry:
        if row.criticality == Criticality.LEDGER:
            raise ProjectionStateError(f"{row} is a ledger: it may not skip events. Make it a dead letter.")
        if not reason:
            raise ProjectionStateError("Say why this event may be missing; the reason stays on record.")
        event = hold_blocked(row, position)
        entry.details = describe(event)
        decided = {"source": NATIVE, "actor": str(actor), "reason": reason}
        set_override(row.name, str(event.event_id), Override.Kind.SKIPPED, **decided)
        Projection.objects.filter(pk=row.pk).update(**UNBLOCKED)
        go_on(row)


def dead_letter_event(row: Projection, position: int, *, actor: audit.Actor, reason: str) -> None:
    """Put the event on record as a letter with all its tries, and go on; its stream parks behind it."""
    with audit.action("projection.dead_letter", actor=actor, subject=row, reason=reason) as entry:
        event = hold_blocked(row, position)
        entry.details = describe(event)
        batch = Batch(row, LIVE, SystemClock(), Router(row, [event], row.event_types))
        batch.dead_letter(event, row.tries or [describe_error(row)])
        batch.save()
        go_on(row)


def go_on(row: Projection) -> None:
    """It was stopped by this event; one that somebody paused stays paused."""
    stopped = Projection.objects.filter(pk=row.pk, state=State.STOPPED)
    stopped.update(state=State.RUNNING, state_since=Now())


def hold_blocked(row: Projection, position: int) -> StoredEvent:
    """The event that blocks, with the consumer's lock, so that nobody tries it meanwhile."""
    if not try_lock_consumer(row.name):
        raise ProjectionStateError(f"{row} is at work on it right now; try again in a moment.")
    row.refresh_from_db()
    event = find_event(row.position + 1)
    # An outage may hold it up before an event of another type.
    is_handled = event is not None and event.type in row.event_types
    if not row.block or event is None or event.position != position or not is_handled:
        raise ProjectionStateError(f"{row} is no longer held up by the event at {position}; look again.")
    row.first_wait = None
    return event


def describe(event: StoredEvent) -> dict[str, object]:
    return {"event": str(event.event_id), "type": event.type, "position": event.position}


def describe_error(row: Projection) -> dict[str, object]:
    """What is known of a try that was not counted, such as one that an outage ended."""
    return {
        "at": (row.blocked_since or timezone.now()).isoformat(),
        "duration_ms": None,
        "error_type": row.error_type,
        "error_message": row.error_message,
        "stacktrace": row.stacktrace,
    }
