"""Recording, each batch in a transaction of its own unless the caller has opened one.

1. Facets and groups that are new are added, in order.
2. Letters that are new are added with their bodies and their latest try, in the order of their keys; the rest are
   locked in the order of their ids, with those that the caller changes besides. Nobody who holds such a lock waits for
   a new letter, so no two writers wait for each other.
3. The other tries are added; one that is known already is not added again.
4. Letters that were there before take the newer error, and reopen if they failed after they were closed.

One that is purged between being found in 2 and being locked is new: then the batch begins again.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db import DataError, transaction
from django.utils import timezone

from dashboard.documents import fetch, send
from dlq.classification import Classifier
from dlq.recording import sql
from dlq.recording.failure import Failure, Parked
from dlq.recording.groups import Group, add_facets, add_group_facets, add_groups, regress_groups
from dlq.recording.known import lock_known, update_known
from dlq.recording.prepare import (
    ATTEMPT_MESSAGE_LENGTH,
    Key,
    Prepared,
    fold,
    prepare_failure,
    prepare_parked,
)

# One statement's worth of letters, and of bytes.
BATCH_SIZE = 1000
BATCH_BYTES = 8_000_000

Then = Callable[[], None] | None


class PurgedError(Exception):
    """A letter that was there is there no more."""


def record_failure(**fields: Any) -> int:
    """Record one failure, given as the fields of `Failure`; returns the letter's id."""
    return record_failures([Failure(**fields)])[0]


def record_failures(
    failures: Iterable[Failure], *, lock_too: Collection[int] = (), once_locked: Then = None
) -> list[int]:
    """Record failures, each letter once however often it is named; returns the letter's id for each of them.

    `lock_too`: letters that the caller, who has opened the transaction, is about to change besides. `once_locked` is
    called when these are locked and no letter is changed yet; again, if what followed had to be undone.
    """
    classifier = Classifier()
    return record([prepare_failure(failure, classifier) for failure in failures], lock_too, once_locked)


def add_common(failures: Iterable[Failure]) -> None:
    """Add the facets and groups that these failures have, by whoever must lock their letters before recording them.

    Recorders add them first: who locks a letter before would wait for one that adds the same and waits for the letter.
    """
    classifier = Classifier()
    for batch in split(fold(prepare_failure(failure, classifier) for failure in failures)):
        add_facets(batch)
        add_groups(batch)


def park_events(events: Iterable[Parked]) -> list[int]:
    """Park events behind an open letter of their sequence; one that has a letter already keeps it as it is."""
    return record([prepare_parked(event) for event in events])


def record(prepared: list[Prepared], lock_too: Collection[int] = (), once_locked: Then = None) -> list[int]:
    ids: dict[Key, int] = {}
    # No transaction around them all: one that locked known letters must not go on to add new ones.
    for batch in split(fold(prepared)):
        try:
            ids |= record_whole(batch, lock_too, once_locked)
        except DataError:
            # One of them holds what jsonb refuses after all.
            for one in batch:
                ids |= record_carefully(one, lock_too, once_locked)
                once_locked = None
        once_locked = None
    return [ids[one.key] for one in prepared]


def record_carefully(one: Prepared, lock_too: Collection[int], once_locked: Then) -> dict[Key, int]:
    try:
        return record_whole([one], lock_too, once_locked)
    except DataError:
        one.give_up_json()
        return record_whole([one], lock_too, once_locked)


def record_whole(batch: list[Prepared], lock_too: Collection[int], once_locked: Then) -> dict[Key, int]:
    while True:
        try:
            with transaction.atomic():
                return record_batch(batch, lock_too, once_locked)
        except PurgedError:
            continue


def split(prepared: list[Prepared]) -> Iterator[list[Prepared]]:
    """Batches that are neither long nor heavy; a heavy letter goes alone."""
    batch: list[Prepared] = []
    weight = 0
    for one in prepared:
        size = one.size
        if batch and (len(batch) == BATCH_SIZE or weight + size > BATCH_BYTES):
            yield batch
            batch, weight = [], 0
        batch.append(one)
        weight += size
    if batch:
        yield batch


def record_batch(batch: list[Prepared], lock_too: Collection[int], once_locked: Then) -> dict[Key, int]:
    add_facets(batch)
    groups = add_groups(batch)
    for one in batch:
        one.letter["group_id"] = groups[one.latest.group.value].id if one.latest else None
    letters = [one.letter for one in batch]
    added = fetch(sql.ADD_LETTERS, letters, now=timezone.now(), most=ATTEMPT_MESSAGE_LENGTH)
    ids: dict[Key, int] = {
        (event_id, consumer, source): letter_id for event_id, consumer, source, letter_id in added
    }
    new, old = [one for one in batch if one.key in ids], [one for one in batch if one.key not in ids]
    known = lock_known(old, lock_too)
    if any(one.key not in known for one in old):
        raise PurgedError
    if once_locked:
        once_locked()
    ids |= {key: letter.id for key, letter in known.items()}
    untold = [(one, one.earlier) for one in new] + [(one, list(one.tries.values())) for one in old]
    tries = [
        tried.describe(ids[one.key], groups[tried.group.value].id) for one, some in untold for tried in some
    ]
    send(sql.ADD_ATTEMPTS, tries)
    reopened = update_known(old, known)
    add_group_facets(batch)
    regress_groups(find_regressed(new, reopened, groups.values()))
    return ids


def find_regressed(
    new: list[Prepared], reopened: list[Prepared], groups: Iterable[Group]
) -> dict[int, datetime]:
    """Groups of letters that opened again, and groups of which all was closed and that have a new letter."""
    closed_at = {group.id: group.over_at for group in groups if group.over_at}
    is_reopened = {one.key for one in reopened}
    failed_again: dict[int, datetime] = {}
    for one in [*new, *reopened]:
        if not one.letter.get("is_regression"):
            continue
        group_id, at = one.letter["group_id"], one.letter["last_failed_at"]
        if one.key in is_reopened or (group_id in closed_at and at > closed_at[group_id]):
            failed_again[group_id] = max(at, failed_again.get(group_id, at))
    return failed_again
