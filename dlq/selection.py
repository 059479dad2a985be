"""Which letters somebody means: the rows they ticked, or everything that matched when it was counted for them."""

from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, F, Max, OuterRef
from django.db.models.lookups import LessThan

from dashboard.paging import row_value
from dlq.filters import LetterFilter
from dlq.models import DeadLetter, FailureGroup
from dlq.models.letter import LetterQuerySet
from dlq.models.words import Status

# What one form may carry; more is selected by its filter.
MOST_IDS = 500
# Up to so many matching bodies a search is exact, and can be selected.
MOST_SEARCHED = 10_000


class SelectionError(Exception):
    """These letters cannot be selected; the message says what to do instead."""


@dataclass(frozen=True)
class Selection:
    """Letters by a condition, none of them newer than the watermark: what arrived since is not touched."""

    letters: LetterQuerySet
    watermark: int
    # True: by id, so that a letter that moved meanwhile is reported and not asked about again.
    is_by_hand: bool
    # For the audit entry.
    description: dict[str, Any] = field(default_factory=dict)
    # The group that is meant as a whole; None: no group is.
    group: FailureGroup | None = None


def select_ids(ids: list[int], watermark: int | None = None) -> Selection:
    if not ids or len(ids) > MOST_IDS:
        raise SelectionError(
            f"Tick from 1 to {MOST_IDS} letters, or all that match the filter, and then say what to do."
        )
    letters = DeadLetter.objects.filter(pk__in=ids)
    if watermark is None:
        watermark = newest_id()
    return Selection(letters, watermark, is_by_hand=True, description={"letters": sorted(ids)})


def select_matching(letter_filter: LetterFilter, watermark: int | None = None) -> Selection:
    """All that match, up to the watermark; without one, up to the newest letter there is now."""
    if letter_filter.looks_elsewhere and letter_filter.find_ids(MOST_SEARCHED) is None:
        raise SelectionError(
            f"More than {MOST_SEARCHED:,} letters have these words or this value, or were in this run, so not all were "
            "looked at; filter by consumer, group or time instead."
        )
    if watermark is None:
        watermark = newest_id()
    letters = letter_filter.matching().filter(pk__lte=watermark)
    return Selection(
        letters,
        watermark,
        is_by_hand=False,
        description={"filter": letter_filter.describe(), "watermark": watermark},
    )


def select_group(group: FailureGroup, watermark: int | None = None, *, closed: bool = False) -> Selection:
    """All open letters of a group, or all closed ones."""
    if watermark is None:
        watermark = newest_id()
    letters = DeadLetter.objects.filter(group=group, pk__lte=watermark)
    letters = letters.exclude(closed_at=None) if closed else letters.open()
    description = {"group": group.pk, "watermark": watermark}
    return Selection(letters, watermark, is_by_hand=False, description=description, group=group)


def newest_id() -> int:
    return DeadLetter.objects.aggregate(newest=Max("pk"))["newest"] or 0


def followers_of(selection: Selection) -> LetterQuerySet:
    """The letters that are parked behind a selected one that is open, wherever it is in their sequence."""
    heads = selection.letters.open()
    return parked_behind(heads, selection.watermark).exclude(pk__in=selection.letters.values("pk"))


def parked_behind(heads: LetterQuerySet, watermark: int) -> LetterQuerySet:
    """The letters that are parked behind any of these, up to the watermark."""
    place = row_value(F("sequence_no"), F("pk"))
    behind = row_value(OuterRef("sequence_no"), OuterRef("pk"))
    ahead = heads.filter(
        LessThan(place, behind),
        sequence_key=OuterRef("sequence_key"),
        consumer=OuterRef("consumer"),
        source=OuterRef("source"),
    )
    parked = DeadLetter.objects.filter(status=Status.PARKED, pk__lte=watermark)
    return parked.exclude(sequence_key="").filter(Exists(ahead))
