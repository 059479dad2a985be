"""One turn of one projection, whoever takes it.

1. `trial.begin` notes the turn, or says how long to wait.
2. In one transaction, under the consumer's lock: read, handle, write letters, skips, spans and the checkpoint.
   The batch is handled as a whole, in the hope that nothing fails.
3. If something failed, all of 2 is rolled back and done again with a savepoint for each event; the one that fails
   there meets its fate, and the others are kept.
If the process dies in 2 or 3, the transaction is undone; see trial.py for the note that is left. Handlers with effects
outside handle one event a turn, so at most that one is done again.
"""

from collections import Counter
from typing import NamedTuple

from django.db import transaction

from projections.definition import Projector
from projections.runtime import trial as trials
from projections.runtime import waiting
from projections.runtime.batch import Batch, CheckpointMovedError
from projections.runtime.clock import Clock
from projections.runtime.errors import is_outage
from projections.runtime.hand import Hand
from projections.runtime.handle import handle_carefully, handle_hopefully
from projections.runtime.lock import lock_consumer
from projections.runtime.route import Router
from projections.runtime.timeouts import Alarm, HandlerTimeoutError
from projections.runtime.trial import POLL_SECONDS, Trial
from projections.store import read


class Result(NamedTuple):
    """How long to wait before the next turn, and what became of how many events."""

    wait_seconds: float
    counts: Counter[str]


NOT_OURS = Result(POLL_SECONDS, Counter())


def take_turn(projector: Projector, hand: Hand, clock: Clock) -> float:
    """Do one batch at most; returns the seconds after which the next turn makes sense."""
    found = trials.begin(projector, hand, clock)
    if not isinstance(found, Trial):
        return found
    with trials.surviving(projector.name, found):
        return run(projector, hand, clock, found).wait_seconds


def run(projector: Projector, hand: Hand, clock: Clock, trial: Trial) -> Result:
    """What follows a trial that was noted; a rebuild calls it inside its own recording."""
    is_careful = trial.is_careful
    while True:
        try:
            return attempt(projector, hand, clock, trial, is_careful=is_careful)
        except CheckpointMovedError:
            trials.withdraw(projector.name, trial)
            return NOT_OURS
        except (Exception, HandlerTimeoutError) as error:
            if is_careful or is_outage(error):
                raise
        is_careful = True


def attempt(projector: Projector, hand: Hand, clock: Clock, trial: Trial, *, is_careful: bool) -> Result:
    with transaction.atomic():
        lock_consumer(projector.name)
        row = trials.find_row(projector.name)
        if row is None or row.trial_by != trial.token:
            return NOT_OURS
        if not trials.is_ours(row, projector, hand):
            # Paused meanwhile: nobody died.
            trials.withdraw(projector.name, trial)
            return NOT_OURS
        if trial.waiting:
            return Result(0.0, waiting.try_again(projector, hand, clock, row, trial))
        events = read(after=row.position, types=projector.event_types, limit=trial.limit)
        batch = Batch(row, hand, clock, Router(row, events, projector.event_types))
        with Alarm(projector.attempt_seconds) as alarm:
            if is_careful:
                handle_carefully(projector, batch, events, alarm, is_deadly=trial.is_deadly)
            else:
                handle_hopefully(projector, batch, events, alarm)
        batch.save()
    return Result(batch.wait_seconds, batch.counts)
