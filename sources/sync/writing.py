"""Write-back: what was closed or opened here is written there, by compare-and-set, in the source's own words.

1. Read letters that a write is owed for, as they stand now, with their rows as they were last seen.
2. Write, in one transaction at the source, those rows that still are as they were seen.
3. Record here what is there now, and forget what was owed.
If the process dies before 2 commits: nothing happened. Between 2 and 3: the next look finds the row in the state that
was wanted, and takes it for done. A row that is found in any other state was moved by somebody: it is not overwritten,
somebody is told, and the letter follows its source.
"""

from collections import defaultdict
from dataclasses import replace
from datetime import timedelta

from django.utils import timezone

from dlq.api import Standing, find_letters
from sources.base import Change, ForeignState, Letters, Words
from sources.models import ForeignRow, OwedWrite
from sources.sync.arriving import note_moved, note_seen, take_rows
from sources.sync.hold import SourceHold
from sources.sync.looking import BATCH_SIZE

# What was written is most likely to come back soon; after many at once it is left to the sweep.
WATCH_FOR = timedelta(minutes=10)
MOST_WATCHED = 100

Wish = tuple[ForeignRow, Standing, Change]


def send_owed(hold: SourceHold, letters: Letters) -> None:
    while hold.is_time_left:
        owed = list(OwedWrite.objects.filter(source=hold.name).order_by("id")[:BATCH_SIZE])
        if not owed:
            return
        wishes = list_wishes(hold.name, letters.words, [one.letter_id for one in owed])
        changes = [change for _, _, change in wishes]
        done = letters.write_status(changes) if changes else set()
        missed = [wish for wish in wishes if wish[0].key not in done]
        found = letters.find_states([row.key for row, _, _ in missed]) if missed else {}
        moved = {wish[0].key: wish for wish in missed if not is_granted(wish, found, letters.words)}
        rows = letters.read(list(moved)) if moved else []
        with hold.recording():
            note_written(hold.name, letters.words, [wish for wish in wishes if wish[0].key not in moved])
            take_rows(hold.name, letters.words, [row for row in rows if letters.words.is_open(row.status)])
            for key, wish in moved.items():
                note_left_alone(hold.name, letters.words, wish, found.get(key))
            OwedWrite.objects.filter(pk__in=[one.pk for one in owed]).delete()


def list_wishes(source: str, words: Words, letter_ids: list[int]) -> list[Wish]:
    """The rows that must change to agree with their letters, and how."""
    rows: dict[int, list[ForeignRow]] = defaultdict(list)
    for row in ForeignRow.objects.filter(source=source, letter_id__in=letter_ids):
        rows[row.letter_id].append(row)
    wishes: list[Wish] = []
    for letter_id, standing in find_letters(rows).items():
        if not standing.is_open:
            word = words.discarded if standing.status == "discarded" else words.resolved
            wishes += [
                (row, standing, Change(as_seen(row), word, standing.closed_by, standing.closed_at))
                for row in rows[letter_id]
                if row.is_open
            ]
        elif not any(row.is_open for row in rows[letter_id]):
            latest = max(rows[letter_id], key=lambda row: row.failed_at)
            # A row that is gone cannot be opened again.
            if latest.status:
                wishes.append((latest, standing, Change(as_seen(latest), words.open[0])))
    return wishes


def as_seen(row: ForeignRow) -> ForeignState:
    return ForeignState(row.key, row.status, row.failed_at, row.attempts)


def is_granted(wish: Wish, found: dict[str, ForeignState], words: Words) -> bool:
    """Whether the row is in the state that was wanted, without having been written just now."""
    row, _, change = wish
    state = found.get(row.key)
    if state is None:
        # Gone: nobody will handle it, which is what closing wanted too.
        return not words.is_open(change.status)
    return state.status == change.status and state.failed_at == row.failed_at


def note_written(source: str, words: Words, wishes: list[Wish]) -> None:
    note_seen(source, words, [replace(change.seen, status=change.status) for _, _, change in wishes])
    if len(wishes) <= MOST_WATCHED:
        watch(source, [row.key for row, _, _ in wishes])


def note_left_alone(source: str, words: Words, wish: Wish, found: ForeignState | None) -> None:
    """One that is open was taken in, which told whom it concerns; one that was closed otherwise, or is gone, not."""
    row, standing, change = wish
    if found and words.is_open(found.status):
        return
    if found:
        note_seen(source, words, [found])
    note_moved(
        source, row.key, row.letter_id, standing.closed_by, change.status, found.status if found else ""
    )


def watch(source: str, keys: list[str]) -> None:
    """Look at these rows every time, for a while."""
    ForeignRow.objects.filter(source=source, key__in=keys).update(watched_until=timezone.now() + WATCH_FOR)
