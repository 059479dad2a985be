"""Rows that are open at their source become letters, or open theirs again; the caller has opened the transaction.

Those that are as they were last seen change nothing: their letters may have been dealt with since.
1. The failures are recorded: a new letter, or a newer try of a known one. The letters that the rows had until now are
   locked with those, all in the order of their ids, as by everybody: some of them are closed in 5.
2. In the midst of that, when the letters are locked and none is changed, rows that are known are noted as they are now:
   letters are locked before their rows, as by whoever closes or purges them. From here on the trigger sees no
   difference, so nothing is owed.
3. Rows that are new are noted with their letters, and those whose key was of another event before.
4. Letters that are closed all the same open again: the source has the last word on its own row.
5. A letter whose open row has become another event's is closed, as if the row were gone, unless another row of it is
   open. No sweep could come to it any more, so it is not left to a later transaction, which may never be.
If the process dies before all of it commits: nothing happened, and the rows are news to the next look too.
"""

import json
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL
from django.utils import timezone

from dashboard.documents import send
from dlq.api import Closing, Failure, find_letters, record_failures, reopen_letters
from sources.base import ForeignLetter, ForeignState, Words
from sources.models import ForeignRow, MovedRow
from sources.sql.rows import find_text, parse, split_path
from sources.sync.closing import close_letters

TAKEN = "Its row at {source} belongs to another letter now."

# Rows that are known take what was seen; is_open and is_retrying are what the words say. One that was asked to be tried
# again counts from when that was first seen here, and anew after every move: then somebody did try it.
NOTE_SEEN = """
UPDATE sources_foreignrow r SET status = f.status, failed_at = f.failed_at, attempts = f.attempts, is_open = f.is_open,
    retrying_since = CASE WHEN NOT f.is_retrying THEN NULL
        WHEN (r.status, r.failed_at, r.attempts) = (f.status, f.failed_at, f.attempts)
            THEN coalesce(r.retrying_since, now())
        ELSE now() END
FROM json_to_recordset(%(rows)s::json)
    AS f(key text, status text, failed_at timestamptz, attempts int, is_open bool, is_retrying bool)
WHERE r.source = %(source)s AND r.key = f.key
"""
# How long a row that is new here has stood so nobody knows; it counts from now.
ADD_ROWS = """
INSERT INTO sources_foreignrow (source, key, letter_id, status, failed_at, attempts, is_open, retrying_since)
SELECT %(source)s, key, letter_id, status, failed_at, attempts, true, CASE WHEN is_retrying THEN now() END
FROM json_to_recordset(%(rows)s::json)
    AS f(key text, letter_id bigint, status text, failed_at timestamptz, attempts int, is_retrying bool)
ON CONFLICT (source, key) DO UPDATE SET
    letter_id = excluded.letter_id, status = excluded.status, failed_at = excluded.failed_at,
    attempts = excluded.attempts, is_open = true, retrying_since = excluded.retrying_since
"""


def take_rows(source: str, words: Words, rows: list[ForeignLetter]) -> None:
    """At most as many as one batch of recording takes: they are one transaction."""
    before = find_rows(source, (row.key for row in rows)) if rows else {}
    # Those that share a key are taken for one, which is the one that failed last.
    rows = list({row.key: row for row in sorted(rows, key=lambda row: row.failed_at)}.values())
    rows = [row for row in rows if is_news(before.get(row.key), row.state, words)]
    if not rows:
        return
    note_undone(source, words, rows, before)
    had = {known.letter_id for row in rows if (known := before.get(row.key))}
    ids = record_failures(
        (make_failure(source, row) for row in rows),
        lock_too=had,
        once_locked=lambda: note_seen(source, words, [row.state for row in rows if row.key in before]),
    )
    taken = [(row, letter_id, before.get(row.key)) for row, letter_id in zip(rows, ids, strict=True)]
    new = [(row, letter_id) for row, letter_id, known in taken if not known or known.letter_id != letter_id]
    add_rows(source, words, new)
    reopen_letters(set(ids))
    close_letters(
        [Closing(letter_id, False, source, TAKEN.format(source=source)) for letter_id in had - set(ids)]
    )


def is_news(row: ForeignRow | None, state: ForeignState, words: Words) -> bool:
    return row is None or not row.is_open or has_changed(row, state, words)


def has_changed(row: ForeignRow, state: ForeignState, words: Words) -> bool:
    # The words may be others than when it was noted: redrive.toml was changed.
    was_retrying = row.retrying_since is not None
    return (row.status, row.failed_at, row.attempts, was_retrying) != (
        state.status,
        state.failed_at,
        state.attempts,
        words.is_retrying(state.status),
    )


def note_undone(source: str, words: Words, rows: list[ForeignLetter], before: dict[str, ForeignRow]) -> None:
    """Somebody closed a letter here, and its row has moved before that could be written there."""
    open_there = {key: row.letter_id for key, row in before.items() if row.is_open}
    standings = find_letters(open_there.values()) if open_there else {}
    for row in rows:
        standing = standings.get(open_there.get(row.key, 0))
        if standing and not standing.is_open:
            wanted = words.discarded if standing.status == "discarded" else words.resolved
            note_moved(source, row.key, standing.letter_id, standing.closed_by, wanted, row.status)


def make_failure(source: str, row: ForeignLetter) -> Failure:
    return Failure(
        source=source,
        source_key=row.key,
        consumer=row.consumer,
        event_id=row.event_id,
        event_type=row.event_type,
        payload=row.payload,
        error_type=row.error_type,
        error_message=row.error_message,
        stacktrace=row.stacktrace,
        attempts=row.attempts,
        failed_at=row.failed_at,
        first_failed_at=row.first_failed_at,
        sequence_key=find_sequence(source, row),
        sequence_no=row.sequence_no,
        trace_id=row.trace_id,
        tenant=row.tenant,
        app_version=row.app_version,
    )


def find_sequence(source: str, row: ForeignLetter) -> str:
    """What redrive.toml says of the consumer comes before what the kind of source knows."""
    path = settings.CONSUMERS.get(f"{source}/{row.consumer}", {}).get("sequence")
    return find_text(parse(row.payload), split_path(path)) if path else row.sequence_key


def find_rows(source: str, keys: Iterable[str]) -> dict[str, ForeignRow]:
    """Those that are known, by the index and nothing else: a join might read the whole table for each batch."""
    given = json.dumps(list(keys))
    known = RawSQL("key = ANY(ARRAY(SELECT json_array_elements_text(%s::json)))", [given], BooleanField())
    return {row.key: row for row in ForeignRow.objects.filter(known, source=source)}


def note_seen(source: str, words: Words, states: list[ForeignState]) -> None:
    rows = [describe(words, one) | {"is_open": words.is_open(one.status)} for one in states]
    send(NOTE_SEEN, rows, source=source)


def add_rows(source: str, words: Words, new: list[tuple[ForeignLetter, int]]) -> None:
    rows = [describe(words, row) | {"letter_id": letter_id} for row, letter_id in new]
    send(ADD_ROWS, rows, source=source)


def describe(words: Words, row: ForeignState | ForeignLetter) -> dict[str, Any]:
    return {
        "key": row.key,
        "status": row.status,
        "failed_at": row.failed_at,
        "attempts": row.attempts,
        "is_retrying": words.is_retrying(row.status),
    }


def note_moved(source: str, key: str, letter_id: int, actor: str, wanted: str, found: str) -> None:
    MovedRow.objects.create(
        source=source,
        key=key,
        letter_id=letter_id,
        actor=actor,
        wanted=wanted,
        found=found,
        at=timezone.now(),
    )
