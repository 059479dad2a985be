"""What somebody decided about single events; live consumption, replay and rebuild all ask here."""

from collections.abc import Iterable
from typing import Any

from django.db.models.functions import Now

from dlq.models import Override

# An array and not a list of parameters: a batch has a thousand of them.
FIND = "SELECT * FROM dlq_override WHERE event_id = ANY(%s) AND consumer = %s AND source = %s"


def find_overrides(consumer: str, event_ids: Iterable[str], *, source: str) -> dict[str, Override]:
    """The decisions on these events, by event id."""
    found = Override.objects.raw(FIND, [list(event_ids), consumer, source])
    return {override.event_id: override for override in found}


def set_override(
    consumer: str,
    event_id: str,
    kind: Override.Kind,
    *,
    source: str,
    actor: str,
    reason: str,
    payload: Any = None,
) -> None:
    """Decide about an event; an earlier decision is replaced."""
    Override.objects.update_or_create(
        consumer=consumer,
        source=source,
        event_id=event_id,
        defaults={"kind": kind, "payload": payload, "actor": actor, "reason": reason, "at": Now()},
    )


def remove_override(consumer: str, event_id: str, *, source: str) -> None:
    Override.objects.filter(consumer=consumer, source=source, event_id=event_id).delete()


def count_overrides(consumer: str, *, source: str) -> int:
    return Override.objects.filter(consumer=consumer, source=source).count()
