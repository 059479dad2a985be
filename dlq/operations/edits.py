"""Replacing what a letter's event says, for its consumer only; the original is kept, and rebuilds honour it too."""

from typing import Any

from dashboard import audit
from dlq.models import DeadLetter, Override
from dlq.operations.errors import OperationError, ReasonMissing
from dlq.overrides import set_override


class EditRefused(OperationError):
    """This letter's payload cannot be replaced; the sentence says why."""


def replace_payload(letter: DeadLetter, payload: Any, *, actor: audit.Actor, reason: str) -> None:
    """From now on this consumer gets the replacement, in a replay as in a rebuild."""
    with audit.action("letter.edit", actor=actor, subject=letter, reason=reason) as entry:
        if letter.status not in ("failed", "parked"):
            raise EditRefused(f"Letter {letter.pk} is {letter.status}; restore it first.")
        if letter.erased_at:
            raise EditRefused("Its payload was erased.")
        if not reason.strip():
            raise ReasonMissing("Say why the event is changed; it stays on record.")
        set_override(
            letter.consumer,
            letter.event_id,
            Override.Kind.REPLACED,
            source=letter.source,
            actor=str(actor),
            reason=reason,
            payload=payload,
        )
        entry.details = {"event": letter.event_id, "consumer": letter.consumer}
