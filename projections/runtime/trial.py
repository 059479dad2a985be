"""What a process begins is on record before it begins, so that an event that kills its process can be found.

1. `begin` notes the process and how far it wants to go, in a short transaction of its own.
2. The work happens in a second transaction, which clears the note together with moving the checkpoint.
If the process dies
- before 1 commits: nothing happened;
- after 1, before 2 commits: the work is undone and the note stays. The next process finds a note that is not its own
  and older than a second, while the lock is free (a living process needs milliseconds from 1 to 2), and finds it
  again a moment later: its writer is dead. It counts a death and goes on carefully, one event at a time, to where the
  dead one wanted to go. One death in that range stays unexplained until the range is passed; the third in a row at one
  event makes the event poison, and it is not tried again;
- after 2: nothing is left to do.
A process that lives to see 2 fail takes its note back: an outage is no death, whoever is started anew in it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from uuid import UUID, uuid4

from django.db import Error, connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from projections.definition import Projector
from projections.models import NATIVE, UNBLOCKED, Effects, Projection, WaitingEvent
from projections.runtime.clock import Clock
from projections.runtime.hand import Hand
from projections.runtime.lock import lock_consumer
from projections.store.read import find_next

# Asked for thrice a batch, so it is not put together each time.
FIND_ROW = """
SELECT p.*, coalesce((SELECT position FROM projections_head WHERE id = 1), 0) AS head,
       (SELECT min(next_at) FROM projections_waitingevent w WHERE w.projection_id = p.id) AS first_wait,
       p.trial_at < now() - interval '1 second' AS is_stale
FROM projections_projection p WHERE p.source = %(source)s AND p.name = %(name)s
"""
# How often an idle or waiting projection is looked at.
POLL_SECONDS = 0.2
MOST_DEATHS = 3


@dataclass(frozen=True)
class Trial:
    """What this process may do now."""

    token: UUID
    limit: int
    # One savepoint an event from the start: something failed or died here before.
    is_careful: bool
    # The next event has killed too many: it is to become poison untried.
    is_deadly: bool
    # An event behind the checkpoint that is due; None: the events after it.
    waiting: WaitingEvent | None = None


@lru_cache(maxsize=1)
def token_of(pid: int) -> UUID:
    """This process's name in the notes; a forked child makes its own."""
    return uuid4()


def begin(projector: Projector, hand: Hand, clock: Clock) -> Trial | float:
    """Note what is about to be tried; or the seconds after which to ask again."""
    row = find_row(projector.name)
    if row is None or not is_ours(row, projector, hand) or not has_work(row, hand):
        return POLL_SECONDS
    token = token_of(os.getpid())
    suspect: tuple[UUID, datetime | None] | None = None
    while True:
        with transaction.atomic(), connection.cursor() as cursor:
            # The note must survive this process, not the server.
            cursor.execute("SET LOCAL synchronous_commit = off")
            # Waiting, not trying: a replay that takes the lock slice after slice must let us in between.
            lock_consumer(projector.name)
            row = find_row(projector.name)
            if row is None or not is_ours(row, projector, hand):
                return POLL_SECONDS
            if row.trial_by in (None, token):
                return note_trial(row, projector, hand, token, clock)
            if not row.is_stale:
                return POLL_SECONDS
            note = (row.trial_by, row.trial_at)
            if note == suspect:
                note_death(row)
                return note_trial(row, projector, hand, token, clock)
            suspect = note
        # Its writer may have had the lock until now, and be about to take the note back.
        clock.sleep(POLL_SECONDS)


def find_row(name: str) -> Projection | None:
    """The projection with the store's head, and whether its note is old; None: it is not known yet."""
    return next(iter(Projection.objects.raw(FIND_ROW, {"source": NATIVE, "name": name})), None)


def is_ours(row: Projection, projector: Projector, hand: Hand) -> bool:
    """Whether it is this hand's turn, and this process has the code that was declared last.

    An older process would go past events of a new type as if nobody handled them.
    """
    return row.state == hand.state and row.event_types == projector.event_types


def has_work(row: Projection, hand: Hand) -> bool:
    return bool(row.first_wait or row.block) or row.position < end_of(row, hand)


def end_of(row: Projection, hand: Hand) -> int:
    return min(row.head, hand.until) if hand.until is not None else int(row.head)


def note_death(row: Projection) -> None:
    """An event that waits behind the checkpoint counts its deaths itself; it takes nobody further than that."""
    if row.trial_to > row.position:
        row.deaths += 1
        row.careful_to = max(row.careful_to, row.trial_to)


def note_trial(row: Projection, projector: Projector, hand: Hand, token: UUID, clock: Clock) -> Trial | float:
    now, end = clock.now(), end_of(row, hand)
    waiting = find_due(row, now)
    if waiting is None and row.next_at and row.next_at > now:
        return (row.next_at - now).total_seconds()
    if waiting is None and row.position >= end:
        if row.block:
            # An outage ended a turn that had no event after the checkpoint, whose success would clear this.
            Projection.objects.filter(pk=row.pk).update(**UNBLOCKED)
        return POLL_SECONDS
    is_external = projector.effects == Effects.EXTERNAL
    limit = min(hand.batch_size, end - row.position)
    if waiting or row.position < row.careful_to:
        limit = 1
    elif is_external and hand.commits_each:
        # Up to the first event that it handles: those of other types before it leave no mark outside.
        limit = (find_next(row.position, projector.event_types, limit) or row.position + limit) - row.position
    row.trial_by, row.trial_at, row.trial_to = token, Now(), row.position + (0 if waiting else limit)
    row.save(update_fields=["trial_by", "trial_at", "trial_to", "careful_to", "deaths"])
    if waiting:
        waiting.deaths += 1
        waiting.save(update_fields=["deaths"])
        return Trial(token, 1, True, waiting.deaths > MOST_DEATHS, waiting)
    is_deadly = row.deaths >= MOST_DEATHS and limit == 1
    return Trial(token, limit, bool(row.attempt) or is_external or limit == 1, is_deadly)


def find_due(row: Projection, now: datetime) -> WaitingEvent | None:
    """The earliest waiting event whose time has come and that is the first of its stream; None: none may be tried.

    What holds the projection comes first, unless that is a breaker: this one may wait for another.
    """
    if not row.first_wait or row.first_wait > now:
        return None
    is_held_up = row.block and (row.position < row.head or (row.next_at and row.next_at > now))
    if is_held_up and row.block != Projection.Block.BREAKER:
        return None
    return row.waiting.filter(next_at__lte=now).order_by("position").first()


@contextmanager
def surviving(name: str, trial: Trial) -> Iterator[None]:
    """Take the note back if what was tried raises: whoever can tell of it has not died.

    What a handler ends by sys.exit() and the like is a death: the process goes, and the next one would try it again.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt):
        with suppress(Error):
            withdraw(name, trial)
        raise


def withdraw(name: str, trial: Trial) -> None:
    ours = Projection.objects.filter(source=NATIVE, name=name, trial_by=trial.token)
    if ours.update(trial_by=None) and trial.waiting:
        WaitingEvent.objects.filter(pk=trial.waiting.pk).update(deaths=F("deaths") - 1)
