"""Playing events of the store through their projection's handler, all of a slice in one transaction.

The steps are those of replay/handler.py, under the same locks. Nothing joins the run, since an event that succeeds
holds nobody up; and an event that has an open letter, or stands behind one, is held: its letter is to be replayed.
If the worker dies before the commit, nothing of the slice happened; handlers with effects outside get one event a
slice, so at most that one is done again.
"""

from dataclasses import replace

from django.db import transaction
from django.utils import timezone

from dashboard.runs.lanes import Hold, LaneLostError
from dlq.models import Override
from dlq.overrides import find_overrides
from dlq.replay.handler import Undo, WorkerDied, take_locks
from dlq.replay.options import ReplayOptions
from dlq.replay.outcomes import Results
from dlq.replay.playing import ASK_AGAIN, Pair, play_carefully, play_hopefully
from dlq.replay.rows import Ahead
from dlq.replay.trial import MOST_DEATHS, Trial, clear
from dlq.replay.watch import NoWatch, Watch
from dlq.reprocess.results import EventResults
from dlq.reprocess.rows import EventRows
from projections.api import (
    NATIVE,
    Alarm,
    Effects,
    HandlerTimeoutError,
    Projector,
    find_standing,
    find_unhandled,
    is_outage,
)

WHY_NOT = {
    "skipped": "the projection skipped it; bring it back as a letter first",
    "waiting": "it waits for a breaker, or stands behind one of its stream that does",
}


def play(hold: Hold, projector: Projector, trial: Trial, options: ReplayOptions) -> Results:
    """One slice; what it did is committed, or in a dry run only counted."""
    if projector.effects == Effects.DATABASE and not trial.is_watched:
        try:
            return attempt(hold, projector, trial, options, is_careful=False)
        except LaneLostError:
            raise
        except (Exception, HandlerTimeoutError) as error:
            if is_outage(error):
                raise
    return attempt(hold, projector, trial, options, is_careful=True)


def attempt(
    hold: Hold, projector: Projector, trial: Trial, options: ReplayOptions, *, is_careful: bool
) -> Results:
    results = EventResults()
    with hold.recording() as lane:
        clear(lane)
        try:
            with transaction.atomic():
                play_in_transaction(hold, projector, trial, options, results, is_careful=is_careful)
                if options.dry_run:
                    raise Undo
        except Undo:
            # A group that was only made for the trial is gone with it.
            results.endings = [replace(ending, group_id=None) for ending in results.endings]
        results.end_items(lane)
    return results


def play_in_transaction(
    hold: Hold,
    projector: Projector,
    trial: Trial,
    options: ReplayOptions,
    results: EventResults,
    *,
    is_careful: bool,
) -> None:
    take_locks(projector, options.buckets(hold.number))
    standing = find_standing(projector.name)
    if standing is None or standing.is_rebuilding:
        results.wait_until = timezone.now() + ASK_AGAIN
        return
    found = EventRows(trial.item_ids, projector.name)
    results.events, results.letters = found.events, found.letters
    ahead = Ahead(found.rows)
    pairs = find_playable(found, projector, standing.position, results)
    with Alarm(projector.attempt_seconds) as alarm, Watch() if trial.is_watched else NoWatch() as watch:
        if trial.is_deadly:
            for row, event in pairs:
                died = WorkerDied(f"The worker died {MOST_DEATHS} times while it handled this event.")
                results.fail(row, died, payload=event.data, duration_ms=0, run=hold.run)
        elif is_careful:
            play_carefully(hold.run, projector, pairs, ahead, results, alarm, watch)
        else:
            play_hopefully(projector, pairs, ahead, results, alarm)
    results.save_letters(hold.run)


def find_playable(
    found: EventRows, projector: Projector, checkpoint: int, results: EventResults
) -> list[Pair]:
    """The events that may be tried, as somebody may have replaced them; one that may not holds up nobody."""
    overrides = find_overrides(projector.name, (row.event_id for row in found.rows), source=NATIVE)
    unhandled = find_unhandled(projector.name, found.events.values())
    pairs = []
    for row in found.rows:
        event, override = found.events[row.item_id], overrides.get(row.event_id)
        if override and override.kind != Override.Kind.REPLACED:
            results.skip(row, f"{override.kind} by {override.actor}")
        elif row.status in ("failed", "parked"):
            results.hold(row, f"its own letter {found.letters[row.event_id].id} is open; replay that")
        elif event.position in unhandled:
            results.hold(row, WHY_NOT[unhandled[event.position]])
        elif event.position > checkpoint:
            results.hold(row, "the projection has not come to it yet")
        else:
            pairs.append((row, event._replace(data=override.payload) if override else event))
    return pairs
