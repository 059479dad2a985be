"""Releasing rows that nobody tries: they get an open word of their source again, by compare-and-set.

1. Somebody asks for it: each row is noted as owed, in the transaction of the audit entry (`sources.operations`).
2. Lock a batch of these rows here, and leave out those that were asked to be tried again since.
3. Write, in one transaction at the source, those that still are as they were seen; one by one if that is refused.
4. Record what is there now, tell of those that have moved, and forget what was owed. What was held by somebody, or
   refused, stays owed.
If the process dies before 3 commits: nothing happened, and the next look does it. Between 3 and 4: the next look finds
the rows in the word that was wanted, and takes that for done. A row that says anything else was moved by somebody: it
is left as it is, told of, and compared at every look for a while. The lock is for replays that ask the source itself:
one that asks for a row meanwhile waits, and then asks for a row that is released.
"""

from dataclasses import replace

from django.db import transaction

from sources.base import Change, Letters, SourceError
from sources.models import ForeignRow, OwedRelease
from sources.sync.arriving import note_moved, note_seen
from sources.sync.hold import SourceHold
from sources.sync.writing import HELD, as_seen, is_as_seen, list_owed, watch, write


def send_releases(hold: SourceHold, letters: Letters) -> SourceError | None:
    """Returns what kept some from being written."""
    trouble = None
    for owed in list_owed(OwedRelease, hold, "release_after"):
        with transaction.atomic():
            trouble = release(hold, letters, owed) or trouble
    return trouble


def release(hold: SourceHold, letters: Letters, owed: list[OwedRelease]) -> SourceError | None:
    rows = lock_rows(hold.name, [one.key for one in owed])
    word = letters.words.released
    changes = {
        one.key: Change(as_seen(rows[one.key]), word)
        for one in owed
        if word and one.key in rows and rows[one.key].retrying_since == one.retrying_since
    }
    done, trouble = write(letters, list(changes.values()))
    missed = [key for key in changes if key not in done]
    found = letters.find_states(missed) if missed else {}
    held = {key for key in missed if is_as_seen(changes[key], found.get(key))}
    owed = [one for one in owed if one.key not in held]
    with hold.recording():
        for one in owed:
            row = rows.get(one.key)
            if row is None or one.key in done:
                # Purged with its letter, or released.
                continue
            state = found.get(one.key)
            # One that was not written is as it was last seen here.
            says = row.status if one.key not in changes else state.status if state else ""
            if says != word:
                note_moved(hold.name, one.key, row.letter_id, one.actor, word, says)
        note_seen(hold.name, letters.words, [replace(changes[key].seen, status=word) for key in done])
        watch(hold.name, [key for key in missed if key not in held])
        OwedRelease.objects.filter(pk__in=[one.pk for one in owed]).delete()
    return trouble or (HELD if held else None)


def lock_rows(source: str, keys: list[str]) -> dict[str, ForeignRow]:
    rows = ForeignRow.objects.select_for_update().filter(source=source, key__in=keys).order_by("key")
    return {row.key: row for row in rows}
