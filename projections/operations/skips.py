from django.utils import timezone

from dashboard import audit
from dlq.api import record_failures, remove_override
from projections.models import NATIVE, Skip
from projections.operations.errors import ProjectionStateError
from projections.runtime.hand import LIVE
from projections.runtime.letters import list_failures
from projections.store.read import find_event


def bring_back_skip(skip: Skip, *, actor: audit.Actor, reason: str) -> int:
    """Make a skipped event a dead letter, which can be replayed like any other; returns the letter's id."""
    with audit.action("skip.bring_back", actor=actor, subject=skip.projection, reason=reason) as entry:
        event = find_event(skip.position)
        # Locked: of two who press at once, the second finds it gone.
        if not Skip.objects.select_for_update().filter(pk=skip.pk).first():
            raise ProjectionStateError("That event has been brought back already.")
        if event is None:
            raise ProjectionStateError("The store no longer has that event: its oldest were pruned.")
        tried = {
            "at": timezone.now().isoformat(),
            "duration_ms": None,
            "error_type": skip.error_type or "Skipped",
            "error_message": skip.error_message or f"Skipped by {skip.actor}: {skip.reason}",
            "stacktrace": skip.stacktrace,
        }
        name = skip.projection.name
        letter_id = record_failures(list_failures(name, LIVE, event, [tried]))[0]
        # Or the replay would go past it again.
        remove_override(name, str(event.event_id), source=NATIVE)
        skip.delete()
        entry.details = {"event": str(event.event_id), "position": event.position, "letter": letter_id}
    return letter_id
