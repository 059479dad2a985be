"""Asking a source to try a row again: its word for that is written, and the sync sees what becomes of it.

The row is locked here meanwhile: whoever releases rows that nobody tries (`sync/releasing.py`) sees that this one was
asked for, or has released it before. If the process dies before the source has committed: nothing happened. After it:
the row is found in that word, and counts as asked.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, F, Q
from django.db.models.functions import Now
from django.utils import timezone

from sources.base import Change, ForeignState, SourceError, Words
from sources.inspection import why_not
from sources.models import ForeignRow
from sources.registry import find_source

# So long a row that was asked for is looked at every time; later only when all are.
WATCH_FOR = timedelta(days=1)


def ask_to_retry(source_name: str, letter_id: int) -> None:
    """Write the source's word for "try again" to the letter's latest row; raises SourceError."""
    source = find_source(source_name)
    retry = source.words.retry if source and source.words else ""
    if source is None or not retry:
        raise SourceError(why_no_retry(source_name), permanent=True)
    # The lock is held for two small statements there, and not while connecting.
    with source.visit() as visit, transaction.atomic():
        row = (
            ForeignRow.objects.select_for_update()
            .filter(source=source_name, letter_id=letter_id, is_open=True)
            .order_by("-failed_at")
            .first()
        )
        if row is None:
            raise SourceError("It has no open row there.", permanent=True)
        asked = ForeignState(row.key, row.status, row.failed_at, row.attempts)
        letters = visit.letters
        if letters is None or not letters.write_status([Change(asked, retry)]):
            found = letters.find_states([row.key]).get(row.key) if letters else None
            if found is None or found.status != retry:
                now = f"says {found.status} now" if found else "is gone"
                raise SourceError(f"Its row has moved there, and {now}.", permanent=False)
            asked = found
        ForeignRow.objects.filter(source=source_name, key=row.key).update(
            status=retry,
            watched_until=timezone.now() + WATCH_FOR,
            retrying_since=Now(),
            asked_at=Now(),
            asked_failed_at=asked.failed_at,
            asked_attempts=asked.attempts,
        )


def why_no_retry(source_name: str) -> str:
    """Empty: the source can be asked."""
    source = find_source(source_name)
    if source is None:
        return f"{source_name} is not configured."
    if source.words is None or not source.words.retry:
        return "It has no word for a row that is to be tried again."
    return why_not(source_name, "writes_status")


def find_retried(source_name: str, letter_ids: list[int]) -> tuple[list[int], list[int]]:
    """Of letters whose rows the source was asked to try again: those it has done, and those that failed again."""
    source = find_source(source_name)
    if source is None or source.words is None:
        return [], []
    failed = ExpressionWrapper(has_failed(source.words), BooleanField())
    rows = ForeignRow.objects.filter(source=source_name, letter_id__in=letter_ids, asked_at__isnull=False)
    found = rows.order_by("asked_at").values_list("letter_id", "is_open", failed)
    # Where a letter has several, the one that was asked for last counts, whatever becomes of the others.
    asked = {letter_id: (is_open, is_failed) for letter_id, is_open, is_failed in found}
    return (
        [letter_id for letter_id, (is_open, _) in asked.items() if not is_open],
        [letter_id for letter_id, (is_open, is_failed) in asked.items() if is_open and is_failed],
    )


def has_failed(words: Words) -> Q:
    """Open rows that were tried since they were asked for, or given back; in another word their owner is at work."""
    # Not in any word: some count a try when it begins.
    is_counted = Q(status=words.retry, attempts__gt=F("asked_attempts"))
    return Q(failed_at__gt=F("asked_failed_at")) | is_counted | Q(status=words.released)
