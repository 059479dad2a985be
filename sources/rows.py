"""A letter's rows at its source, as they were last seen, in sentences for its page."""

from django.utils import timezone

from dashboard.words import duration
from sources.models import ForeignRow, MovedRow

SHOWN = 5


def describe_rows(letter_id: int, *, is_open: bool) -> list[str]:
    """A sentence for each row, and one for each that moved before it could be written."""
    rows = list(ForeignRow.objects.filter(letter_id=letter_id).order_by("-failed_at")[:SHOWN])
    if not rows:
        return []
    sentences = [describe(row, is_letter_open=is_open) for row in rows]
    for moved in MovedRow.objects.filter(letter_id=letter_id).order_by("-at")[:SHOWN]:
        ago = duration((timezone.now() - moved.at).total_seconds())
        found = f"said {moved.found}" if moved.found else "was gone"
        sentences.append(
            f"{ago} ago {moved.wanted} was to be written for {moved.actor or 'somebody'}, and row {moved.key} {found}; "
            "it was left as it is."
        )
    return sentences


def describe(row: ForeignRow, *, is_letter_open: bool) -> str:
    says = f"says {row.status}" if row.status else "is open" if row.is_open else "is gone"
    owed = "; what was done here is not written there yet" if row.is_open and not is_letter_open else ""
    return f"Row {row.key} {says}{owed}."
