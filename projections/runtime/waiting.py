"""Events behind the checkpoint that wait for a breaker: tried again when it may let them through, in stream order."""

import time
from collections import Counter
from datetime import timedelta
from typing import Any

from projections.decisions import Skip
from projections.definition import Projector
from projections.models import Projection, WaitingEvent
from projections.replaying import read_at
from projections.runtime.batch import Batch
from projections.runtime.clock import Clock
from projections.runtime.decide import Refused, Wait, decide
from projections.runtime.hand import Hand
from projections.runtime.handle import try_once
from projections.runtime.letters import Try, describe_death, describe_try
from projections.runtime.route import Route, Router
from projections.runtime.timeouts import Alarm
from projections.runtime.trial import Trial
from projections.store import StoredEvent
from projections.store.read import find_event


def try_again(projector: Projector, hand: Hand, clock: Clock, row: Projection, trial: Trial) -> Counter[str]:
    """Try the waiting event of this turn; the caller holds the lock and the transaction."""
    waiting = row.waiting.filter(pk=trial.waiting.pk).first() if trial.waiting else None
    event = find_event(waiting.position) if waiting else None
    router = Router(row, [event] if event else [], projector.event_types)
    batch = Batch(row, hand, clock, router, is_behind=True)
    if waiting and event:
        settle(projector, batch, waiting, event, is_deadly=trial.is_deadly)
    batch.save()
    return batch.counts


def settle(
    projector: Projector, batch: Batch, waiting: WaitingEvent, event: StoredEvent, *, is_deadly: bool
) -> None:
    batch.router.waiting_streams.discard(event.stream)
    route = batch.router.route(event)
    if route != Route.HANDLE:
        batch.pass_by(event, route)
        leave(batch, waiting)
        return
    now = batch.clock.now()
    if is_deadly:
        batch.counts["failed"] += 1
        give_up(batch, event, [*waiting.tries, describe_death(now)])
        return
    began = time.monotonic()
    with Alarm(projector.attempt_seconds) as alarm:
        error = try_once(projector, batch.router.replace(event), alarm)
    if error is None:
        batch.succeed(event)
        leave(batch, waiting)
        return
    fate = decide(projector, batch.hand, event, error, waiting.attempt + 1)
    if isinstance(fate, Refused):
        # All that wait for this breaker wait on: one of them has asked for all.
        same = batch.row.waiting.filter(breaker=fate.breaker) | batch.row.waiting.filter(pk=waiting.pk)
        same.update(breaker=fate.breaker, next_at=now + timedelta(seconds=fate.seconds), deaths=0)
        return
    batch.counts["failed"] += 1
    tries = [*waiting.tries, describe_try(error, now, round(1000 * (time.monotonic() - began)))]
    if isinstance(fate, Wait):
        changes: dict[str, Any] = {"next_at": now + timedelta(seconds=fate.seconds), "deaths": 0}
        # An outage uses up no try.
        if fate.block == Projection.Block.RETRY:
            changes |= {"attempt": waiting.attempt + 1, "tries": tries}
        batch.row.waiting.filter(pk=waiting.pk).update(**changes)
    elif isinstance(fate, Skip):
        batch.skip(event, "policy", fate.reason, tries)
        leave(batch, waiting)
    else:
        # Also where the policy would stop: the checkpoint is past this event, so its stream stops, as letters do.
        give_up(batch, event, tries)


def leave(batch: Batch, waiting: WaitingEvent) -> None:
    """It waits no more; the next of its stream is due."""
    waiting.delete()
    following = batch.row.waiting.filter(stream=waiting.stream).order_by("position").first()
    if following:
        batch.row.waiting.filter(pk=following.pk).update(next_at=batch.clock.now())


def give_up(batch: Batch, event: StoredEvent, tries: list[Try]) -> None:
    """A letter for the event; those that waited behind it are parked behind its letter."""
    batch.dead_letter(event, tries)
    behind = batch.row.waiting.filter(stream=event.stream, position__gt=event.position)
    for follower in sorted(read_at(behind.values_list("position", flat=True)).values()):
        batch.park(follower)
    batch.row.waiting.filter(stream=event.stream).delete()
