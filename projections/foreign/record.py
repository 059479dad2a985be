"""Keeping what a source's checkpoints say; pages read it here and never ask the source."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from dlq.api import place_letters
from projections.foreign.judge import judge
from projections.foreign.watch import follow
from projections.models import ForeignProjection, ForeignSample
from projections.models.foreign import STALE_AFTER
from projections.retention import KEEP_SAMPLES
from sources.api import Checkpoints, ForeignCheckpoint, SourceError, Unaccounted

State = ForeignProjection.State

# Looking for lost events costs more than the rest together, and they do not run away.
LOOK_FOR_LOSSES_EVERY = timedelta(seconds=60)
MOST_LOOKS = 5
# A checkpoint that nobody has seen for so long is of a projection that is no more.
FORGET_AFTER = timedelta(days=7)
COLUMNS = [
    *("read_at", "has_checkpoint", "checkpoint", "position", "stamp", "head"),
    *("last_event_id", "last_event_type", "written_at", "moved_at"),
    *("lag", "lag_bound", "lag_note", "oldest_at"),
    *("state", "state_since", "evidence", "worker", "worker_seen_at", "unaccounted"),
]


@dataclass(frozen=True)
class Look:
    """A checkpoint as it was found, and lost events if it was time to look for them."""

    found: ForeignCheckpoint
    losses: Unaccounted | None


def look(source: str, checkpoints: Checkpoints) -> list[Look]:
    """Ask the source, outside of any transaction of ours; raises SourceError."""
    known = dict(ForeignProjection.objects.filter(source=source).values_list("name", "unaccounted"))
    found = checkpoints.list_checkpoints()
    looked_at = {one.consumer: known.get(one.consumer, {}).get("looked_at", "") for one in found}
    due = choose_due(looked_at, timezone.now())
    return [Look(one, look_for_losses(checkpoints, one) if one.consumer in due else None) for one in found]


def choose_due(looked_at: dict[str, str], now: datetime) -> set[str]:
    """Whose turn it is to be looked at for lost events, those first that waited longest; empty text: never yet."""
    since = (now - LOOK_FOR_LOSSES_EVERY).isoformat()
    due = sorted((at, name) for name, at in looked_at.items() if at < since)
    return {name for _, name in due[:MOST_LOOKS]}


def keep(source: str, looks: list[Look]) -> None:
    now = timezone.now()
    found = {one.found.consumer: one for one in looks}
    rows = {row.name: row for row in ForeignProjection.objects.filter(source=source)}
    for name, one in found.items():
        row = rows.setdefault(name, ForeignProjection(source=source, name=name))
        update(row, one.found, now)
        if one.losses:
            row.unaccounted = tell_losses(one.losses, row.unaccounted, now)
            place_letters(source, name, one.losses.placed)
    for name in rows.keys() - found.keys():
        update_missing(rows[name], now)
    ForeignProjection.objects.bulk_create(
        rows.values(), update_conflicts=True, unique_fields=["source", "name"], update_fields=COLUMNS
    )
    for name, one in found.items():
        watch_reset(rows[name], one.found)


def update(row: ForeignProjection, found: ForeignCheckpoint, now: datetime) -> None:
    if row.stamp and row.stamp != found.stamp:
        row.moved_at = now
    elif row.moved_at is None and found.idle_seconds is not None:
        row.moved_at = now - timedelta(seconds=max(found.idle_seconds, 0.0))
    if row.worker != found.worker.worker:
        # Having seen somebody else says nothing about this one: the new name may be misspelt.
        row.worker, row.worker_seen_at = found.worker.worker, None
    if found.worker.is_running:
        row.worker_seen_at = now
    row.read_at, row.has_checkpoint = now, True
    row.checkpoint, row.position, row.stamp, row.head = found.at, found.position, found.stamp, found.head
    row.last_event_id, row.last_event_type = found.last_event_id, found.last_event_type
    row.written_at, row.oldest_at = found.updated_at, found.waiting_since
    row.lag, row.lag_bound, row.lag_note = found.lag, found.lag_bound, found.lag_note
    verdict = judge(found, moved_at=row.moved_at, now=now)
    set_state(row, verdict.state, verdict.evidence, now)


def update_missing(row: ForeignProjection, now: datetime) -> None:
    """Its checkpoint is gone: it was reset, from here or there, or the projection is no more."""
    if row.has_checkpoint:
        row.moved_at = now
    row.read_at, row.has_checkpoint = now, False
    row.stamp, row.lag, row.lag_bound, row.oldest_at = "", None, "", None
    row.lag_note = "It has no checkpoint: all events are ahead of it."
    row.unaccounted = {}
    set_state(
        row, State.UNKNOWN, "It has no checkpoint, and its worker writes one with its first event.", now
    )


def watch_reset(row: ForeignProjection, found: ForeignCheckpoint) -> None:
    """By itself, and only the reset that was looked at: another may have begun meanwhile."""
    known = follow(row.reset, found)
    if known != row.reset:
        same = ForeignProjection.objects.filter(source=row.source, name=row.name, reset__run=row.reset["run"])
        same.update(reset=known)


def set_state(row: ForeignProjection, state: State, evidence: str, now: datetime) -> None:
    if row.state != state or row.pk is None:
        row.state, row.state_since = state, now
    row.evidence = evidence


def look_for_losses(checkpoints: Checkpoints, found: ForeignCheckpoint) -> Unaccounted:
    """One that takes too long must not keep the others from being read."""
    try:
        return checkpoints.find_unaccounted(found)
    except SourceError as error:
        return Unaccounted(None, f"Lost events could not be looked for. {error}")


def tell_losses(losses: Unaccounted, known: dict[str, Any], now: datetime) -> dict[str, Any]:
    """As it is kept; `known` is what was kept before."""
    if is_out_of_sight(known, losses, now):
        return known | {"looked_at": now.isoformat()}
    return {
        "number": losses.number,
        "sentence": losses.sentence,
        "named": [asdict(one) for one in losses.named],
        "begins_at": losses.begins_at.isoformat() if losses.begins_at else "",
        "newest_at": losses.newest_at.isoformat() if losses.newest_at else "",
        "looked_at": now.isoformat(),
    }


def is_out_of_sight(known: dict[str, Any], losses: Unaccounted, now: datetime) -> bool:
    """Whether this look did not come to what an earlier one found: that stays, for a week or until there is news."""
    # What an earlier version kept may not say when it begins, or not even how old it is.
    begins_at, newest_at = known.get("begins_at"), known.get("newest_at")
    if not known.get("number") or not newest_at:
        return False
    newest = datetime.fromisoformat(newest_at)
    if now - newest > FORGET_AFTER or (losses.newest_at and losses.newest_at > newest):
        return False
    if losses.number is None:
        return True
    return losses.since is not None and (not begins_at or datetime.fromisoformat(begins_at) < losses.since)


def take_samples() -> None:
    """Beat's measurement, from what was read last."""
    now = timezone.now()
    rows = ForeignProjection.objects.filter(lag__isnull=False, read_at__gt=now - STALE_AFTER)
    ForeignSample.objects.bulk_create(
        ForeignSample(projection=row, at=now, head=row.head, position=row.position, lag=row.lag or 0)
        for row in rows
    )


def forget() -> None:
    now = timezone.now()
    ForeignSample.objects.filter(at__lt=now - KEEP_SAMPLES).delete()
    ForeignProjection.objects.filter(has_checkpoint=False, moved_at__lt=now - FORGET_AFTER).delete()
    ForeignProjection.objects.filter(read_at__lt=now - FORGET_AFTER).delete()
