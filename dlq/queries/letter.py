"""The letter page: the letter in full, its tries, and its neighbours in the sequence."""

import json
from dataclasses import dataclass

from django.db.models import F, Value
from django.db.models.lookups import GreaterThan, LessThan
from django.http import Http404

from dashboard.paging import row_value
from dlq.cleaning import Payload, clean_names
from dlq.models import Attempt, DeadLetter, LetterRunItem
from dlq.models.letter import LetterQuerySet
from dlq.models.words import Status
from projections.api import NATIVE, find_event

SHOWN_ATTEMPTS = 100
SHOWN_NEIGHBOURS = 5
# A count of neighbours stops here.
MOST_COUNTED = 10_000


@dataclass(frozen=True)
class LetterDetail:
    """The letter with its body and group, its newest tries, and what stands before and after it in its sequence."""

    letter: DeadLetter
    attempts: list[Attempt]
    # Nearest last, nearest first: together with the letter they are in the sequence's order.
    before: list[DeadLetter]
    after: list[DeadLetter]
    # Open letters of the sequence that must be dealt with first.
    open_before_count: int
    # Letters that are parked behind this one.
    follower_count: int
    # The active run that the letter is in; None: in none.
    run_id: int | None

    @property
    def unshown_count(self) -> int:
        """Failed tries that are counted and not among the attempts: a source tells of its last, or they are many."""
        shown = sum(attempt.outcome == Attempt.Outcome.FAILED for attempt in self.attempts)
        return max(self.letter.attempts - shown, 0)


def get_letter(letter_id: int) -> LetterDetail:
    """The letter; Http404 if there is none."""
    letter = DeadLetter.objects.select_related("body", "group").filter(pk=letter_id).first()
    if letter is None:
        raise Http404("There is no such letter; it may have been purged.")
    before, after = neighbours(letter)
    return LetterDetail(
        letter,
        attempts=list(letter.tries.select_related("group", "run").order_by("-at")[:SHOWN_ATTEMPTS]),
        before=list(before.order_by("-sequence_no", "-pk")[:SHOWN_NEIGHBOURS])[::-1],
        after=list(after.order_by("sequence_no", "pk")[:SHOWN_NEIGHBOURS]),
        open_before_count=before.open().order_by()[:MOST_COUNTED].count(),
        follower_count=after.filter(status=Status.PARKED).order_by()[:MOST_COUNTED].count(),
        run_id=LetterRunItem.objects.filter(letter=letter, is_active=True)
        .values_list("run_id", flat=True)
        .first(),
    )


def find_letter(source: str, consumer: str, event_id: str) -> DeadLetter | None:
    """The letter behind a permalink that an alert can write by itself; None if there is none."""
    # As they are stored: long names are cut.
    source, consumer, event_id = clean_names((source, consumer, event_id))
    return DeadLetter.objects.filter(source=source, consumer=consumer, event_id=event_id).first()


def find_stored(letter: DeadLetter) -> Payload | None:
    """The payload from our own event store, for a letter without a copy; None: it has one, or there is none to read."""
    if letter.source != NATIVE or letter.position is None or letter.body.payload_size or letter.erased_at:
        return None
    event = find_event(letter.position)
    return Payload(None, None, len(json.dumps(event.data)), event.data) if event else None


def neighbours(letter: DeadLetter) -> tuple[LetterQuerySet, LetterQuerySet]:
    """The letters before and after it in its sequence; none if it is a sequence of its own."""
    place = row_value(F("sequence_no"), F("pk"))
    here = row_value(Value(letter.sequence_no), Value(letter.pk))
    others = DeadLetter.objects.none()
    if letter.sequence_key:
        others = DeadLetter.objects.filter(
            sequence_key=letter.sequence_key, consumer=letter.consumer, source=letter.source
        ).exclude(sequence_key="")
    return others.filter(LessThan(place, here)), others.filter(GreaterThan(place, here))
