"""What a batch's letters have in common: the groups they belong to, and the values that filters offer."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from dashboard.documents import send
from dlq.masking import UNMASKED, get_masking
from dlq.recording import sql
from dlq.recording.prepare import Prepared, Tried

FACETS = ("source", "consumer", "event_type", "error_type", "tenant", "app_version")
GROUP_FACETS = ("event_type", "app_version")


@dataclass(frozen=True)
class Group:
    """A group's id, and when all of it was closed, at once or bit by bit (None: it was not, or it failed since)."""

    id: int
    over_at: datetime | None
    # Its last letter was purged; see retention.py.
    retired_at: datetime | None = None


def add_facets(batch: list[Prepared]) -> None:
    values = {(kind, one.letter[kind]) for one in batch for kind in FACETS if one.letter[kind]}
    send(sql.ADD_FACETS, [{"kind": kind, "value": value} for kind, value in sorted(values)])


def add_groups(batch: list[Prepared]) -> dict[str, Group]:
    """The groups of all tries, by fingerprint; those that are new are added.

    Known ones are read without a lock: a statement that might update them would make all writers queue here.
    """
    wanted: dict[str, dict[str, Any]] = {}
    for one in batch:
        for tried in one.tries.values():
            if tried.group.value not in wanted:
                wanted[tried.group.value] = describe_group(tried)
    found = revive(find_groups(wanted))
    missing = sorted(wanted.keys() - found.keys())
    if missing:
        send(sql.ADD_GROUPS, [wanted[fingerprint] for fingerprint in missing])
        found |= find_groups(missing)
    return found


def revive(found: dict[str, Group]) -> dict[str, Group]:
    """Keep those that are about to be forgotten; those that have been meanwhile are left out."""
    retired = {group.id for group in found.values() if group.retired_at}
    if not retired:
        return found
    with connection.cursor() as cursor:
        cursor.execute(sql.REVIVE_GROUPS, [list(retired)])
        gone = retired - {group_id for (group_id,) in cursor.fetchall()}
    return {fingerprint: group for fingerprint, group in found.items() if group.id not in gone}


def find_groups(fingerprints: Iterable[str]) -> dict[str, Group]:
    with connection.cursor() as cursor:
        cursor.execute(sql.FIND_GROUPS, [list(fingerprints)])
        return {fingerprint: Group(*rest) for fingerprint, *rest in cursor.fetchall()}


def describe_group(tried: Tried) -> dict[str, Any]:
    letter, group, mask_key = tried.letter, tried.group, get_masking().key
    return {
        "fingerprint": group.value,
        "error_key": group.error_key,
        "source": letter["source"],
        "consumer": letter["consumer"],
        "error_type": group.error_type,
        "normal_message": group.normal_message,
        "frame": group.frame,
        "title": group.title,
        # Of an error that came without its event nobody knows yet whether an earlier one came with it.
        "mask_key": UNMASKED if mask_key and not letter["payload_size"] else mask_key,
        "category": letter["category"],
    }


def add_group_facets(batch: list[Prepared]) -> None:
    first: dict[tuple[int, str, str], datetime] = {}
    for one in batch:
        letter = one.letter
        if letter["group_id"]:
            for kind in GROUP_FACETS:
                key = (letter["group_id"], kind, letter[kind])
                first[key] = min(first.get(key, letter["first_failed_at"]), letter["first_failed_at"])
    names = ("group_id", "kind", "value")
    rows = [
        dict(zip(names, key, strict=True)) | {"first_at": at} for key, at in sorted(first.items()) if key[2]
    ]
    send(sql.ADD_GROUP_FACETS, rows)


def regress_groups(failed_again: dict[int, datetime]) -> None:
    send(sql.REGRESS_GROUPS, [{"id": group_id, "at": at} for group_id, at in failed_again.items()])
