"""A letter's rows at its source, as they were last seen, in sentences for its page."""

from dashboard.words import say_ago
from sources.models import ForeignRow, MovedRow

SHOWN = 5


def describe_rows(letter_id: int, *, is_open: bool) -> list[str]:
    """A sentence for each row, and one for each that moved before it could be written."""
    rows = list(ForeignRow.objects.filter(letter_id=letter_id).order_by("-failed_at")[:SHOWN])
    if not rows:
        return []
    sentences = [describe(row, is_letter_open=is_open) for row in rows]
    for moved in MovedRow.objects.filter(letter_id=letter_id).order_by("-at")[:SHOWN]:
        found = f"said “{moved.found}” and was left as it was" if moved.found else "was gone"
        sentences.append(
            f"“{moved.wanted}” was not written for {moved.actor or 'somebody'} {say_ago(moved.at)}: "
            f"row {moved.key} {found}."
        )
    return sentences


def describe(row: ForeignRow, *, is_letter_open: bool) -> str:
    says = f"says {row.status}" if row.status else "is open" if row.is_open else "is gone"
    owed = "; what was done here is not written there yet" if row.is_open and not is_letter_open else ""
    return f"Row {row.key} {says}{owed}."
