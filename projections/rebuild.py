"""Rebuild: the read model is emptied and every event handled again, by a run, under the consumer's lock.

1. Begin, in one transaction: empty the read model, set the checkpoint to the start and the state to rebuilding (which
   keeps live consumers away), and note where the head is.
2. Slice by slice, as live consumption does it, in one transaction with the lane's totals: handle a batch, move the
   checkpoint. Letters whose events are processed close as rebuilt; what fails becomes a letter and its stream parks.
3. At the noted head: back to running, in one transaction; live goes on from the same checkpoint, so there is neither
   gap nor double.
If the worker dies in 1 or 3, that transaction did not happen, and the next worker does it. In 2 the batch is undone and
done again from the checkpoint, also after an outage; see runtime/trial.py for events that kill. A run that is cancelled
or breaks leaves a read model that is right up to its checkpoint: `pause_abandoned` pauses the projection there, and
resuming goes on live.
"""

import time
from collections import Counter
from datetime import timedelta
from typing import Any

from django.db import Error, transaction
from django.db.models.functions import Now

from dashboard import audit
from dashboard.models import Lane, Run
from dashboard.runs.kinds import DONE, MORE, Outcome, Step
from dashboard.runs.lanes import Hold
from dashboard.runs.operations import note_run
from dashboard.runs.states import SYSTEM
from projections.checkpoints import set_checkpoint
from projections.definition import Projector, find_projector
from projections.models import NATIVE, Projection
from projections.runtime import trial as trials
from projections.runtime.clock import SystemClock
from projections.runtime.decide import OUTAGE_SECONDS
from projections.runtime.errors import is_outage
from projections.runtime.hand import Hand
from projections.runtime.lock import lock_consumer
from projections.runtime.turn import run
from projections.store import get_head, get_tail

State = Projection.State
BATCH_SIZE = 1000
SLICE_SECONDS = 1.0


class RebuildError(Exception):
    """The rebuild cannot go on; the sentence says why."""


class Rebuild:
    name = "rebuild"
    outcomes: tuple[Outcome, ...] = (
        Outcome("processed", "processed", "good"),
        Outcome("ignored", "of other types", "mute"),
        Outcome("skipped", "skipped", "warn"),
        Outcome("dead_lettered", "dead letters", "bad"),
        Outcome("parked", "parked", "warn"),
    )

    def work(self, hold: Hold) -> Step:
        projector = get_projector(hold.run)
        with hold.recording() as lane:
            if not lane.cursor:
                begin(projector, lane)
        hand = Hand(State.REBUILDING, BATCH_SIZE, until=lane.cursor["until"], run_id=hold.run.pk)
        clock, ends_at = SystemClock(), time.monotonic() + SLICE_SECONDS
        while time.monotonic() < ends_at:
            trial = trials.begin(projector, hand, clock)
            if isinstance(trial, float):
                if finish(projector, hold):
                    return DONE
                return Step(wait_until=clock.now() + timedelta(seconds=trial))
            try:
                with trials.surviving(projector.name, trial), hold.recording() as lane:
                    result = run(projector, hand, clock, trial)
                    counts = Counter(result.counts)
                    if trial.waiting:
                        # It was counted as parked when it was passed, and so were those behind it.
                        counts["parked"] = -sum(
                            counts[one.name] for one in self.outcomes if one.name != "parked"
                        )
                    for outcome in self.outcomes:
                        if counts[outcome.name]:
                            lane.count(outcome.name, counts[outcome.name])
            except Error as error:
                if not is_outage(error):
                    raise
                # No event's fault, and not the run's either; if this cannot be said, nothing can be done at all.
                note_run(hold.run, f"It waits until the outage is over: {error}"[:1000])
                return Step(wait_until=clock.now() + timedelta(seconds=OUTAGE_SECONDS))
            if result.wait_seconds:
                return Step(wait_until=clock.now() + timedelta(seconds=result.wait_seconds))
        return MORE


def get_projector(run: Run) -> Projector:
    name = run.options["projection"]
    projector = find_projector(name)
    if projector is None:
        raise RebuildError(f"No installed app registers {name!r} any more.")
    return projector


def begin(projector: Projector, lane: Lane) -> None:
    lock_consumer(projector.name)
    row = get_row(projector)
    projector.truncate()
    state = State.PAUSED if row.state == State.PAUSED else State.RUNNING
    head, tail = get_head(), get_tail()
    set_checkpoint(row, tail, state=State.REBUILDING)
    lane.total = head - tail
    lane.cursor = {"until": head, "then": state}


def finish(projector: Projector, hold: Hold) -> bool:
    """Hand over to live if the end is reached; True if it is."""
    with hold.recording() as lane:
        lock_consumer(projector.name)
        row = get_row(projector)
        if row.state != State.REBUILDING:
            raise RebuildError(f"{projector.name} is {row.state}: somebody has ended its rebuild.")
        is_done = bool(row.position >= lane.cursor["until"])
        if is_done:
            Projection.objects.filter(pk=row.pk).update(state=lane.cursor["then"], state_since=Now())
    return is_done


def get_row(projector: Projector) -> Projection:
    return Projection.objects.get(source=NATIVE, name=projector.name)


def describe_projection(run: Run) -> dict[str, Any]:
    """For the run's page: which projection it works on."""
    return {"projection": Projection.objects.filter(source=NATIVE, name=run.options["projection"]).first()}


def find_active_run(name: str) -> Run | None:
    """The run that works on this projection or its letters; None if there is none."""
    active = Run.objects.exclude(state__in=Run.ENDED)
    found = active.filter(options__projection=name) | active.filter(options__consumers__contains=name)
    return found.order_by("pk").first()


def pause_abandoned() -> None:
    """A projection whose rebuild was cancelled, or broke, waits where it is for somebody to resume it."""
    for row in Projection.objects.filter(source=NATIVE, state=State.REBUILDING):
        # Not other runs: a replay of its letters may wait for this.
        run = Run.objects.filter(kind=Rebuild.name, options__projection=row.name).order_by("-pk").first()
        if run is None or run.state in Run.ENDED:
            pause_where_it_is(row, run)


def pause_where_it_is(row: Projection, run: Run | None) -> None:
    """On record, or its page would tell of an earlier pause."""
    ended = "Its rebuild is over"
    if run:
        how = "has failed" if run.state == Run.State.FAILED else "was cancelled"
        ended = f"Its rebuild, run {run.pk}, {how}"
    with transaction.atomic():
        # Its last slice may have moved it since it was found.
        found = Projection.objects.select_for_update().filter(pk=row.pk, state=State.REBUILDING)
        for position in found.values_list("position", flat=True):
            found.update(state=State.PAUSED, state_since=Now())
            holds = f"has what was handled up to {position:,}; resuming goes on from there."
            if position <= get_tail():
                holds = "is empty; resuming begins at the first event."
            reason = f"{ended}. The read model {holds}"
            audit.record("projection.pause", actor=SYSTEM, subject=row, reason=reason)
