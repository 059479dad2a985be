"""What changed at a source, found with as little reading as it takes.

1. New rows: those with greater keys than the greatest seen. Every time; mostly the greatest is the one that was seen.
2. Watched rows: those that something was done to lately. Every time, a bounded number, by key.
3. The sweep: all that we know to be open is looked up by key, and all that is open there is listed; it finds rows that
   changed, were closed, are gone, were opened again, and those that committed late, below the greatest key. It begins
   when the source's own count of writes has moved, or after a minute; it goes on from look to look, and rests in
   between for many times as long as it took.
A commit moves the count after it is visible, so a late one is found by the sweep that this starts.
"""

import time
from typing import Any

from django.utils import timezone

from sources.base import Letters
from sources.models import ForeignRow
from sources.sync.arriving import find_rows, has_changed, take_rows
from sources.sync.hold import SourceHold, Stage
from sources.sync.leaving import close_rows

# One transaction's worth; as many as one batch of recording takes.
BATCH_SIZE = 1000
# Of rows that are only compared.
SWEEP_SIZE = 2000
MOST_WATCHED = 500
# Whatever the count of writes says: it is lost when a server crashes.
SWEEP_SECONDS = 60
# Of the time, sweeps take one part in so many.
SWEEP_REST = 10


def read_new(hold: SourceHold, letters: Letters) -> None:
    """At least one batch, however slow the source is."""
    head = letters.find_newest_key() if letters.keys_grow else ""
    stage = Stage()
    while is_behind(hold.cursor, head):
        rows = letters.read_open(after=hold.cursor.get("newest", ""), until=head, limit=BATCH_SIZE)
        if rows:
            with hold.recording():
                take_rows(hold.name, letters.words, rows)
        # To the head even if the last rows before it are closed: they would be passed over again every time.
        hold.cursor["newest"] = rows[-1].key if rows else head
        if not stage.is_time_left:
            break
    # Read by the page: what is shown is not all that there is.
    hold.cursor["is_behind"] = is_behind(hold.cursor, head)


def is_behind(cursor: dict[str, Any], head: str) -> bool:
    return bool(head) and head != cursor.get("newest")


def look_at_watched(hold: SourceHold, letters: Letters) -> None:
    watched = ForeignRow.objects.filter(source=hold.name, watched_until__gt=timezone.now())
    rows = {row.key: row for row in watched.order_by("-watched_until")[:MOST_WATCHED]}
    if rows:
        compare(hold, letters, rows)


def sweep(hold: SourceHold, letters: Letters) -> None:
    """Begin a sweep if there is reason to, and go on with one that has begun."""
    if "sweep" not in hold.cursor:
        token = letters.count_writes()
        if not is_due(hold.cursor, token):
            return
        hold.cursor["sweep"] = {"token": token, "known_after": "", "open_after": "", "seconds": 0.0}
    progress = hold.cursor["sweep"]
    began, stage = time.monotonic(), Stage()
    is_done = sweep_known(hold, letters, stage, progress) and sweep_open(hold, letters, stage, progress)
    progress["seconds"] += time.monotonic() - began
    if is_done:
        hold.cursor["writes"] = progress["token"]
        hold.cursor["swept_at"] = time.time()
        hold.cursor["sweep_seconds"] = progress["seconds"]
        del hold.cursor["sweep"]


def is_due(cursor: dict[str, Any], token: str | None) -> bool:
    since = time.time() - cursor.get("swept_at", 0)
    if since < SWEEP_REST * cursor.get("sweep_seconds", 0):
        return False
    return token is None or token != cursor.get("writes") or since > SWEEP_SECONDS


def sweep_known(hold: SourceHold, letters: Letters, stage: Stage, progress: dict[str, Any]) -> bool:
    """Look up what we know to be open; True when all of it was."""
    while progress["known_after"] is not None and stage.is_time_left:
        known = ForeignRow.objects.filter(source=hold.name, is_open=True, key__gt=progress["known_after"])
        rows = {row.key: row for row in known.order_by("key")[:SWEEP_SIZE]}
        if rows:
            compare(hold, letters, rows)
        progress["known_after"] = next(reversed(rows)) if len(rows) == SWEEP_SIZE else None
    return progress["known_after"] is None


def sweep_open(hold: SourceHold, letters: Letters, stage: Stage, progress: dict[str, Any]) -> bool:
    """List what is open there, and take what we do not have as open; True when the list came to its end."""
    while progress["open_after"] is not None and stage.is_time_left:
        keys = letters.list_open_keys(after=progress["open_after"], limit=SWEEP_SIZE)
        known = {key for key, row in find_rows(hold.name, keys).items() if row.is_open}
        take(hold, letters, [key for key in keys if key not in known])
        progress["open_after"] = keys[-1] if len(keys) == SWEEP_SIZE else None
    return progress["open_after"] is None


def compare(hold: SourceHold, letters: Letters, rows: dict[str, ForeignRow]) -> None:
    """Look rows up by key, and take or close those that differ from what was last seen."""
    states = letters.find_states(list(rows))
    changed = [state for key, state in states.items() if has_changed(rows[key], state, letters.words)]
    closed = [state for state in changed if not letters.words.is_open(state.status)]
    gone = [key for key, row in rows.items() if key not in states and row.is_open]
    if closed or gone:
        with hold.recording():
            close_rows(hold.name, letters.words, closed, gone)
    take(hold, letters, [state.key for state in changed if letters.words.is_open(state.status)])


def take(hold: SourceHold, letters: Letters, keys: list[str]) -> None:
    """Read these rows in full and take them in; one that was closed meanwhile is for the next sweep."""
    for rows in letters.read(keys, limit=BATCH_SIZE):
        with hold.recording():
            take_rows(hold.name, letters.words, [row for row in rows if letters.words.is_open(row.status)])
