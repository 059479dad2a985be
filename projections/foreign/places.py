"""Where the checkpoint of a projection that others run stands, against one event that it failed on."""

from uuid import UUID

from projections.models import ForeignProjection


def describe_place(source: str, consumer: str, *, event_id: str, position: int | None) -> str:
    """Whether its owner will come to the event again, as was last read; empty: that is not known."""
    row = ForeignProjection.objects.filter(source=source, name=consumer).first()
    if row is None or row.is_stale:
        return ""
    if not row.has_checkpoint:
        return "It has no checkpoint: its worker will come to this event again when it begins at the first."
    is_past = find_past(row, event_id, position)
    if is_past is None:
        return ""
    here = f" ({position:,})" if position is not None else ""
    at = f"{row.position:,}" if row.position is not None else row.checkpoint
    if is_past:
        return (
            f"Its checkpoint is at {at} and has passed this event{here}: nobody will try it again by itself."
        )
    return f"Its checkpoint is at {at} and has not come to this event{here} yet."


def find_past(row: ForeignProjection, event_id: str, position: int | None) -> bool | None:
    """By number, or by ids that grow; None: the two cannot be compared."""
    if row.position is not None and position is not None:
        return row.position >= position
    try:
        at, event = UUID(row.checkpoint), UUID(event_id)
    except ValueError:
        return None
    return at >= event if at.version == event.version == 7 else None
