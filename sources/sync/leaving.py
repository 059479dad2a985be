"""Rows that their source has done with: resolved, discarded or gone; the caller has opened the transaction."""

from dlq.api import Closing, find_letters
from sources.base import ForeignState, Words
from sources.models import ForeignRow
from sources.sync.arriving import note_seen
from sources.sync.closing import close_letters

GONE = "The row is gone from {source}."
CLOSED = "{source} says {status}."


def close_rows(source: str, words: Words, states: list[ForeignState], gone: list[str]) -> None:
    """Close the letters of these rows, unless another row of the same letter is open."""
    closed = {state.key: state for state in states}
    rows = ForeignRow.objects.filter(source=source, key__in=[*closed, *gone])
    letters = {row.letter_id: row.key for row in rows}
    # One that is being restored is waited for, and closed; one that is restored later finds its row closed, and owes.
    find_letters(letters, lock=True)
    note_seen(source, words, states)
    note_gone(source, gone)
    close_letters(
        [make_closing(source, words, letter_id, closed.get(key)) for letter_id, key in letters.items()]
    )


def note_gone(source: str, keys: list[str]) -> None:
    ForeignRow.objects.filter(source=source, key__in=keys).update(
        status="", is_open=False, retrying_since=None
    )


def make_closing(source: str, words: Words, letter_id: int, state: ForeignState | None) -> Closing:
    if state is None:
        return Closing(letter_id, False, source, GONE.format(source=source))
    is_discarded = state.status == words.discarded and state.status != words.resolved
    reason = CLOSED.format(source=source, status=state.status)
    return Closing(letter_id, is_discarded, state.closed_by or source, reason)
