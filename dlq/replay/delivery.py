"""What is sent for a letter."""

import json
from hashlib import sha256

from dlq.models import DeadLetter, LetterBody, Override
from dlq.overrides import find_overrides
from dlq.replay.rows import Row
from dlq.targets import Delivery


def make_delivery(row: Row) -> Delivery | None:
    """The event as it came, or as somebody replaced it; None: there is nothing to send."""
    body = LetterBody.objects.get(letter=row.letter_id)
    override = find_overrides(row.consumer, [row.event_id], source=row.source).get(row.event_id)
    is_replaced = override is not None and override.kind == Override.Kind.REPLACED
    if override is not None and is_replaced:
        content = json.dumps(override.payload).encode()
    elif body.payload_raw is not None:
        content = bytes(body.payload_raw)
    elif body.payload is not None:
        content = json.dumps(body.payload).encode()
    else:
        return None
    # It rises when a replay has ended, so it is the same for every try within a run.
    generation = DeadLetter.objects.values_list("replays", flat=True).get(pk=row.letter_id)
    parts = (row.consumer, row.event_id, sha256(content).hexdigest(), str(generation))
    return Delivery(
        letter_id=row.letter_id,
        is_replaced=is_replaced,
        source=row.source,
        consumer=row.consumer,
        event_id=row.event_id,
        event_type=row.event_type,
        sequence_key=row.sequence_key,
        body=content,
        headers=body.headers,
        idempotency_key=sha256("\0".join(parts).encode()).hexdigest(),
        item_id=row.item_id,
    )
