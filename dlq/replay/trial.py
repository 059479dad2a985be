"""What a lane is about to try is on record before it is tried, so that a letter that kills its worker can be found.

1. `begin` notes the items of the slice on the lane, in a short transaction of its own.
2. The slice's transaction plays them and clears the note together with recording what became of them.
If the worker dies
- before 1 commits: nothing happened;
- after 1, before 2 commits: what the handlers did is undone and the note stays. Whoever claims the lane next has a
  higher epoch, finds a note that is not its own, and counts a death for each of its items. From then on those are
  tried under watch (watch.py), so that a second death has a name; the third makes a letter poison, and it is not
  tried again;
- after 2: nothing is left to do.
A slice that raises takes its note back (`withdraw`). If the database is away it cannot, and an outage counts as a
death; it takes three, two of them while the handler of one and the same letter runs, to be unjust to it.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Any
from uuid import uuid4

from django.db import connection, transaction

from dashboard.models import Lane
from dashboard.runs.lanes import Hold
from dlq.replay.queue import Next

MOST_DEATHS = 3
# A death undoes the slice, so those that are expected to die are short.
MOST_WATCHED = 50

COUNT_DEATHS = """
UPDATE dlq_letterrunitem SET deaths = deaths + 1
WHERE run_id = %s AND lane = %s AND is_active AND id BETWEEN %s AND %s
"""


@dataclass(frozen=True)
class Trial:
    """What this slice may try: items of one consumer, in order."""

    item_ids: list[int]
    source: str
    consumer: str
    # A worker died while these were in hand.
    is_watched: bool
    # The one item has killed too many: it is to become poison untried.
    is_deadly: bool
    # So many more could be tried with them.
    room: int = 0


@lru_cache(maxsize=1)
def token_of(pid: int) -> str:
    """This process's name in the notes; a forked child makes its own."""
    return uuid4().hex


def begin(
    hold: Hold,
    list_next: Callable[..., list[Next]],
    *,
    rung: int,
    limit: int,
    by_sequence: bool,
    batch_size: Callable[[str, str], int],
) -> Trial | None:
    """Note the next items of the lane; None: it has none that can be tried at this rung."""
    with transaction.atomic(), connection.cursor() as cursor:
        # The note must survive this process, not the server.
        cursor.execute("SET LOCAL synchronous_commit = off")
        lane = hold.lock()
        note = lane.cursor.pop("trial", None)
        if note and note["by"] != token_of(os.getpid()):
            cursor.execute(COUNT_DEATHS, [hold.run.pk, lane.number, note["first"], note["last"]])
        chosen = list_next(hold.run, lane.number, rung=rung, limit=1)
        size = len(chosen)
        if chosen and chosen[0].deaths < MOST_DEATHS:
            most = batch_size(chosen[0].source, chosen[0].consumer)
            size = min(limit, most)
            waiting = list_next(hold.run, lane.number, rung=rung, limit=most if by_sequence else size)
            chosen = choose(waiting, size, by_sequence=by_sequence)
        if chosen and not chosen[0].deaths:
            lane.cursor["trial"] = {
                "by": token_of(os.getpid()),
                "first": chosen[0].item_id,
                "last": chosen[-1].item_id,
            }
        lane.save(update_fields=["cursor"])
    if not chosen:
        return None
    first = chosen[0]
    return Trial(
        [one.item_id for one in chosen],
        first.source,
        first.consumer,
        is_watched=first.deaths > 0,
        is_deadly=first.deaths >= MOST_DEATHS,
        room=size - len(chosen),
    )


def choose(waiting: list[Next], size: int, *, by_sequence: bool) -> list[Next]:
    """Those that can be tried together: of one consumer, with as many deaths; by sequence, none is cut in two."""
    first, last = waiting[0], waiting[-1]
    size = min(size, MOST_WATCHED) if first.deaths else size
    alike = list(takewhile(lambda one: one.kin == first.kin, waiting))
    if not by_sequence:
        return alike[:size]
    if alike[-1] is last and first.sequence_key != last.sequence_key:
        alike = [one for one in alike if one.sequence_key != last.sequence_key]
    chosen = alike[:size]
    key = chosen[-1].sequence_key
    return [*chosen, *takewhile(lambda one: key and one.sequence_key == key, alike[size:])]


def clear(lane: Lane) -> None:
    """In the slice's own transaction: nobody died."""
    cursor: dict[str, Any] = lane.cursor
    cursor.pop("trial", None)


def withdraw(hold: Hold) -> None:
    """The slice did not come to its end, but its worker lives."""
    with transaction.atomic():
        lane = hold.lock()
        clear(lane)
        lane.save(update_fields=["cursor"])
