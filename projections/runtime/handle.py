"""Handling the events of a batch: hopefully, all at once; or carefully, with a savepoint each."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from datetime import timedelta
from itertools import groupby

from django.db import connection, transaction
from django.db.transaction import TransactionManagementError

from projections.decisions import DeadLetter, Skip
from projections.definition import Projector
from projections.models import Projection
from projections.runtime.batch import Batch
from projections.runtime.decide import Fate, Refused, Wait, decide
from projections.runtime.errors import is_outage
from projections.runtime.letters import Try, describe_death, describe_try
from projections.runtime.route import Route
from projections.runtime.timeouts import Alarm, HandlerTimeoutError
from projections.store import StoredEvent

# With so many set aside, no other is because of a breaker: then the projection itself waits. Those behind one of their
# stream still are.
MOST_WAITING = 1000


class SwallowedError(TransactionManagementError):
    """Django undoes such a savepoint in silence, and the event would count as processed."""

    def __init__(self) -> None:
        super().__init__(
            "A statement failed and the handler went on, so that all it did for this event was undone. "
            "Put transaction.atomic() around the statement that may fail."
        )


def handle_hopefully(projector: Projector, batch: Batch, events: list[StoredEvent], alarm: Alarm) -> None:
    """Without savepoints: whatever is raised undoes the batch."""
    wanted = list(pick(batch, events))
    handle_all(projector, [batch.router.replace(event) for event in wanted], alarm)
    for event in wanted:
        batch.succeed(event)


def handle_all(projector: Projector, events: list[StoredEvent], alarm: Alarm) -> None:
    """In their order; those that follow each other and have the same batch handler together."""
    for name, some in groupby(events, key=lambda event: projector.batch_handlers.get(event.type)):
        if name:
            alarm.restart()
            projector.handle_batch(list(some))
            continue
        with pipelining(projector):
            for event in some:
                alarm.restart()
                projector.handle(event)


@contextmanager
def pipelining(projector: Projector) -> Iterator[None]:
    """If it wants so, statements wait for no answer; what goes wrong is raised at the end at the latest."""
    if not projector.is_pipelined:
        yield
        return
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield


def pick(batch: Batch, events: list[StoredEvent]) -> Iterator[StoredEvent]:
    """Those that are to be handled; the others are passed by."""
    for event in events:
        route = batch.router.route(event)
        if route == Route.HANDLE:
            yield event
        else:
            batch.pass_by(event, route)


def handle_carefully(
    projector: Projector, batch: Batch, events: list[StoredEvent], alarm: Alarm, *, is_deadly: bool
) -> None:
    """One by one, each undone alone; an event that must be waited for ends the batch before it."""
    for event in pick(batch, events):
        # Failed tries of earlier turns; only the event after the checkpoint can have any.
        tries = list(batch.row.tries) if event.position == batch.row.position + 1 else []
        if is_deadly:
            batch.counts["failed"] += 1
            batch.dead_letter(event, [*tries, describe_death(batch.clock.now())])
            continue
        began = time.monotonic()
        error = try_once(projector, batch.router.replace(event), alarm)
        if error is None:
            batch.succeed(event)
            continue
        tries.append(describe_try(error, batch.clock.now(), round(1000 * (time.monotonic() - began))))
        fate = decide(projector, batch.hand, event, error, len(tries))
        if not settle(batch, event, tries, fate):
            return


def try_once(projector: Projector, event: StoredEvent, alarm: Alarm) -> BaseException | None:
    """Handle one event in a savepoint; returns the error that undid it, None if nothing did."""
    try:
        with transaction.atomic():
            try:
                alarm.restart()
                # A copy: what a handler changes in it is not to be what its letter tells.
                projector.handle(deepcopy(event))
            finally:
                # Here, since undoing it must not be interrupted: half of it would stay.
                alarm.pause()
            if transaction.get_rollback():
                raise SwallowedError from connection.rollback_exc  # type: ignore[attr-defined]
    except (Exception, HandlerTimeoutError) as error:
        if is_outage(error):
            raise
        return error
    return None


def settle(batch: Batch, event: StoredEvent, tries: list[Try], fate: Fate) -> bool:
    """Do what was decided; False if the batch ends before this event."""
    if isinstance(fate, Refused):
        return wait_for_breaker(batch, event, tries, fate)
    batch.counts["failed"] += 1
    if isinstance(fate, DeadLetter):
        batch.dead_letter(event, tries)
    elif isinstance(fate, Skip):
        batch.skip(event, "policy", fate.reason, tries)
    elif isinstance(fate, Wait):
        batch.counts["retried"] += 1
        batch.hold(event, fate.block, tries, seconds=fate.seconds)
        return False
    else:
        batch.counts["fatal"] += 1
        batch.hold(event, Projection.Block.FATAL, tries, seconds=None)
        return False
    return True


def wait_for_breaker(batch: Batch, event: StoredEvent, tries: list[Try], fate: Refused) -> bool:
    if batch.row.waiting.count() + len(batch.waits) >= MOST_WAITING:
        batch.hold(event, Projection.Block.BREAKER, tries, seconds=fate.seconds)
        return False
    # The last one was no try: the call was refused.
    batch.wait(event, fate.breaker, batch.clock.now() + timedelta(seconds=fate.seconds), tries[:-1])
    return True
