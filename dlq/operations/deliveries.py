"""What consumers call back to say about deliveries; no person does this, so the attempt is the record and no audit."""

from dataclasses import asdict

from django.db import transaction

from dashboard.models import Lane
from dlq.models import Confirmation, LetterRunItem
from dlq.operations.errors import OperationError
from dlq.replay import confirming
from dlq.targets import Refusal


class AlreadyConfirmed(OperationError):
    """Somebody has said otherwise before; the first word counts."""


def confirm_delivery(item: LetterRunItem, refusal: Refusal | None) -> Confirmation:
    """Keep what was said, and act on it: the run goes on, or if it has ended the letter is settled now.

    Said twice, it is said once. If the process dies before the run is told, its lane looks by itself soon after.
    """
    outcome = Confirmation.Outcome.FAILED if refusal else Confirmation.Outcome.SUCCEEDED
    told = asdict(refusal) if refusal else {}
    with transaction.atomic():
        # Under its lane's lock the item cannot end as unconfirmed while this is being written.
        lane = Lane.objects.select_for_update().get(run_id=item.run_id, number=item.lane)
        kept, _ = Confirmation.objects.get_or_create(item=item, defaults={"outcome": outcome, **told})
        if kept.outcome != outcome:
            raise AlreadyConfirmed(f"Delivery {item.pk} was confirmed as {kept.outcome} before.")
        item.refresh_from_db()
        if not item.is_active:
            confirming.settle_late(item, lane)
    if item.is_active:
        confirming.wake(item)
    return kept
