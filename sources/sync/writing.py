"""Write-back: what was closed or opened here is written there, by compare-and-set, in the source's own words.

1. Read letters that a write is owed for, as they stand now, with their rows as they were last seen.
2. Write, in one transaction at the source, those rows that still are as they were seen; one by one if that is refused.
3. Look up what was not written. A row in the state that was wanted is done. One that still is as it was seen was held
   by somebody, or refused: it stays owed. Any other was moved by somebody: it is not overwritten, somebody is told, and
   the letter follows its source.
4. Lock the letters, record here what is there now, and forget what was owed. A letter that was closed or opened since 1
   owed nothing, because its row stood as it did then: it owes a write now.
If the process dies before 2 commits: nothing happened. Between 2 and 4: all is owed still; the next look finds the row
in the state that was wanted, and takes it for done, or, if the letter was changed back meanwhile, wants nothing, and
the sweep makes the letter follow its row. After 4 commits: what changed meanwhile is owed, like anything else.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from django.utils import timezone

from dlq.api import Standing, find_letters
from sources.base import Change, ForeignState, Letters, SourceError, Words
from sources.models import ForeignRow, OwedRelease, OwedWrite
from sources.sync.arriving import note_moved, note_seen, take_rows
from sources.sync.closing import close_letters
from sources.sync.hold import SourceHold, Stage
from sources.sync.leaving import make_closing, note_gone

# One transaction's worth: its rows are locked there, and their owner waits.
BATCH_SIZE = 500
# What was written is most likely to come back soon; after many at once it is left to the sweep.
WATCH_FOR = timedelta(minutes=10)
MOST_WATCHED = 100

HELD = SourceError("Somebody holds rows that are to be written, or they do not take it.", permanent=False)

Wish = tuple[ForeignRow, Standing, Change]
Owed = TypeVar("Owed", OwedWrite, OwedRelease)


def send_owed(hold: SourceHold, letters: Letters) -> SourceError | None:
    """Returns what kept some from being written."""
    trouble = None
    for owed in list_owed(OwedWrite, hold, "write_after"):
        trouble = send_batch(hold, letters, owed) or trouble
    return trouble


def list_owed(model: type[Owed], hold: SourceHold, place: str) -> Iterator[list[Owed]]:
    """Batches, from where the last look ended: what cannot be written must not stand before what can.

    Once around while there is time, and at least one: a look that tries nothing would take what is refused for mended.
    """
    began = hold.cursor.get(place, 0)
    owed = model.objects.filter(source=hold.name).order_by("pk")
    stage = Stage()
    for part in (owed.filter(pk__gt=began), owed.filter(pk__lte=began)):
        after = 0
        while found := list(part.filter(pk__gt=after)[:BATCH_SIZE]):
            hold.cursor[place] = after = found[-1].pk
            yield found
            if not stage.is_time_left:
                return
    hold.cursor[place] = 0


def send_batch(hold: SourceHold, letters: Letters, owed: list[OwedWrite]) -> SourceError | None:
    words = letters.words
    wishes = {wish[0].key: wish for wish in list_wishes(hold.name, words, [one.letter_id for one in owed])}
    done, trouble = write(letters, [change for _, _, change in wishes.values()])
    missed = [key for key in wishes if key not in done]
    found = letters.find_states(missed) if missed else {}
    held = {key for key in missed if is_as_seen(wishes[key][2], found.get(key))}
    moved = [key for key in missed if key not in held and not is_granted(wishes[key], found, words)]
    rows = [row for some in letters.read(moved, limit=BATCH_SIZE) for row in some]
    with hold.recording():
        standings = find_letters({standing.letter_id for _, standing, _ in wishes.values()}, lock=True)
        note_written(
            hold.name, words, [wishes[key] for key in wishes if key not in held and key not in moved]
        )
        take_rows(hold.name, words, [row for row in rows if words.is_open(row.status)])
        for key in moved:
            note_left_alone(hold.name, words, wishes[key], found.get(key))
        stays = {wishes[key][0].letter_id for key in held}
        OwedWrite.objects.filter(pk__in=[one.pk for one in owed if one.letter_id not in stays]).delete()
        owe_again(hold.name, [standing for _, standing, _ in wishes.values()], standings)
    return trouble or (HELD if held else None)


def write(letters: Letters, changes: list[Change]) -> tuple[set[str], SourceError | None]:
    """All at once, or one by one if one of them is refused; returns the keys that were written, and what was wrong."""
    try:
        return (letters.write_status(changes, skip_locked=True) if changes else set()), None
    except SourceError as error:
        if len(changes) == 1:
            return set(), error
        trouble = error
    done: set[str] = set()
    stage = Stage()
    for change in changes:
        if not stage.is_time_left:
            break
        try:
            done |= letters.write_status([change], skip_locked=True)
        except SourceError as error:
            trouble = error
    return done, trouble


def owe_again(source: str, before: list[Standing], now: dict[int, Standing]) -> None:
    changed = {
        old.letter_id for old in before if old.letter_id in now and now[old.letter_id].is_open != old.is_open
    }
    OwedWrite.objects.bulk_create(
        OwedWrite(source=source, letter_id=letter_id) for letter_id in sorted(changed)
    )


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


def is_as_seen(change: Change, found: ForeignState | None) -> bool:
    """Whether nobody has moved the row, so that it could have been written."""
    return found is not None and (found.status, found.failed_at) == (
        change.seen.status,
        change.seen.failed_at,
    )


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
    if found and words.is_open(change.status):
        # The letter, which is locked, was open here alone.
        close_letters([make_closing(source, words, row.letter_id, found)])
    if found:
        note_seen(source, words, [found])
    else:
        note_gone(source, [row.key])
    note_moved(
        source, row.key, row.letter_id, standing.closed_by, change.status, found.status if found else ""
    )


def watch(source: str, keys: list[str]) -> None:
    """Look at these rows every time, for a while."""
    ForeignRow.objects.filter(source=source, key__in=keys).update(watched_until=timezone.now() + WATCH_FOR)
