from django.db.models.functions import Now

from dashboard import audit
from projections.models import Projection
from projections.operations.errors import ProjectionStateError

State = Projection.State


def pause_projection(row: Projection, *, actor: audit.Actor, reason: str) -> None:
    """Stop after the batch in hand. A column, not a message: it works while Redis is away."""
    with audit.action("projection.pause", actor=actor, subject=row, reason=reason):
        found = Projection.objects.filter(pk=row.pk, state__in=[State.RUNNING, State.STOPPED])
        if not found.update(state=State.PAUSED, state_since=Now()):
            raise ProjectionStateError(f"{row} is {get_state(row)}; there is nothing to pause.")


def get_state(row: Projection) -> str:
    row.refresh_from_db(fields=["state"])
    return row.get_state_display().lower()
