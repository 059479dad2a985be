"""Asking a source to try a row again: its word for that is written, and the sync sees what becomes of it.

The row is locked here meanwhile: whoever releases rows that nobody tries (`sync/releasing.py`) sees that this one was
asked for, or has released it before. If the process dies before the source has committed: nothing happened. After it:
the row is found in that word, and counts as asked.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from sources.base import Change, ForeignState, SourceError
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
        seen = ForeignState(row.key, row.status, row.failed_at, row.attempts)
        letters = visit.letters
        if letters is None or not letters.write_status([Change(seen, retry)]):
            found = letters.find_states([row.key]).get(row.key) if letters else None
            if found is None or found.status != retry:
                now = f"says {found.status} now" if found else "is gone"
                raise SourceError(f"Its row has moved there, and {now}.", permanent=False)
        ForeignRow.objects.filter(source=source_name, key=row.key).update(
            status=retry, watched_until=timezone.now() + WATCH_FOR, retrying_since=Now()
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
    retry = source.words.retry if source and source.words else ""
    rows = ForeignRow.objects.filter(source=source_name, letter_id__in=letter_ids).order_by("failed_at")
    # Where a letter has several, the latest is the one that was asked for.
    ended = [
        row for row in {row.letter_id: row for row in rows}.values() if row.status != retry or not row.is_open
    ]
    return [row.letter_id for row in ended if not row.is_open], [
        row.letter_id for row in ended if row.is_open
    ]
