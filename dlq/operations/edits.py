"""Replacing what a letter's event says, for its consumer only; the original is kept, and rebuilds honour it too."""

from typing import Any

from dashboard import audit
from dlq.models import DeadLetter, Override
from dlq.models.words import UNSETTLED
from dlq.operations.errors import OperationError, ReasonMissing
from dlq.overrides import remove_override, set_override
from dlq.queries.edit import diff, find_payload


class EditRefused(OperationError):
    """This letter's payload cannot be replaced; the sentence says why."""


def replace_payload(letter: DeadLetter, payload: Any, *, actor: audit.Actor, reason: str) -> bool:
    """From now on this consumer gets the replacement, in a replay as in a rebuild; False: it is the original, so that
    what was in its place is taken back."""
    with audit.action("letter.edit", actor=actor, subject=letter, reason=reason) as entry:
        # As it stands, and until this is on record: whoever closes it decides about its event, too.
        letter = DeadLetter.objects.select_for_update().filter(pk=letter.pk).first() or letter
        if letter.status not in UNSETTLED:
            raise EditRefused(f"Letter {letter.pk} is {letter.status}; restore it first.")
        if letter.erased_at:
            raise EditRefused("Its payload was erased.")
        if not reason.strip():
            raise ReasonMissing("Say why the event is changed; it stays on record.")
        entry.details = {"event": letter.event_id, "consumer": letter.consumer}
        if not diff(find_payload(letter), payload):
            remove_override(letter.consumer, letter.event_id, source=letter.source)
            entry.details |= {"taken_back": True}
            return False
        set_override(
            letter.consumer,
            letter.event_id,
            Override.Kind.REPLACED,
            source=letter.source,
            actor=str(actor),
            reason=reason,
            payload=payload,
        )
    return True
