"""Letters that were there before: what a failure changes about them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from dashboard.documents import fetch, send
from dlq.masking import UNMASKED
from dlq.models import DeadLetter
from dlq.models.words import CLOSED, Status, Tier
from dlq.recording import sql
from dlq.recording.describe import Row
from dlq.recording.prepare import Key, Prepared


@dataclass(frozen=True)
class Known:
    """A letter as it stands, locked."""

    id: int
    status: str
    tier: str
    attempts: int
    first_failed_at: datetime
    last_failed_at: datetime
    closed_at: datetime | None
    erased_at: datetime | None

    def is_outdated_by(self, letter: Row) -> bool:
        """Whether this failure is news: later than what we know, or the first of a letter that was only parked."""
        if letter["status"] == Status.PARKED:
            return False
        return self.status == Status.PARKED or letter["last_failed_at"] > self.last_failed_at

    def is_reopened_by(self, letter: Row) -> bool:
        """A closed letter opens again only if it failed after it was closed."""
        return (
            self.status in CLOSED and self.closed_at is not None and letter["last_failed_at"] > self.closed_at
        )


def lock_known(batch: list[Prepared], lock_too: Collection[int] = ()) -> dict[Key, Known]:
    """By one statement, so that all are locked in the order of their ids."""
    names = ("event_id", "consumer", "source")
    keys = {one.key for one in batch}
    if lock_too:
        keys.update(DeadLetter.objects.with_ids(list(lock_too)).values_list(*names))
    rows = fetch(sql.LOCK_LETTERS, [dict(zip(names, key, strict=True)) for key in keys])
    return {(row[0], row[1], row[2]): Known(*row[3:]) for row in rows}


def update_known(batch: list[Prepared], known: dict[Key, Known]) -> list[Prepared]:
    """Bring the letters up to date; returns those that are open again."""
    refreshed, widened, reopened = [], [], []
    for one in batch:
        before, letter = known[one.key], one.letter
        seen = {
            "id": before.id,
            "attempts": max(before.attempts, letter["attempts"]),
            "first_failed_at": min(before.first_failed_at, letter["first_failed_at"]),
        }
        if not before.is_outdated_by(letter):
            widened.append(seen)
            continue
        is_reopened = before.is_reopened_by(letter)
        is_open = is_reopened or before.status not in CLOSED
        changes = {
            "is_reopened": is_reopened,
            # The error speaks of the event as it was sent this time; what was erased stays erased.
            "takes_payload": letter["payload_size"] > 0
            and before.erased_at is None
            and not letter["keeps_payload"],
            "status": Status.FAILED.value if is_open else before.status,
            "tier": Tier.POISON.value if before.tier == Tier.POISON else letter["tier"],
        }
        refreshed.append(letter | seen | changes)
        if is_reopened:
            reopened.append(one)
    send(sql.REFRESH_LETTERS, refreshed, unmasked=UNMASKED)
    send(sql.WIDEN_LETTERS, widened)
    return reopened
