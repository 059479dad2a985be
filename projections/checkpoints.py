"""Setting a checkpoint by hand; the caller holds the consumer's lock and a transaction."""

from typing import Any

from django.db.models.functions import Now

from projections.lag import recount_seen
from projections.models import UNBLOCKED, Projection

NO_TRIAL: dict[str, Any] = {"trial_by": None, "deaths": 0, "careful_to": 0}


def set_checkpoint(row: Projection, position: int, *, state: str) -> None:
    """Go on after this position, and account for what comes after it.

    Letters stay: an event whose letter is open closes it when it is processed again. Skips and waiting events beyond
    the position are forgotten, since their events are handled again.
    """
    row.spans.all().delete()
    row.skips.filter(position__gt=position).delete()
    row.waiting.filter(position__gt=position).delete()
    Projection.objects.filter(pk=row.pk).update(
        position=position,
        accounting_from=position,
        accounting={},
        last_event_id=None,
        last_event_type="",
        last_event_at=None,
        last_processed_at=Now(),
        state=state,
        state_since=Now(),
        **UNBLOCKED,
        **NO_TRIAL,
    )
    recount_seen(row.pk)
