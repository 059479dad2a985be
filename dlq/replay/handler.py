"""Playing letters through the handler of one of our own projections, all of a slice in one transaction.

1. Under the lane's lock and the consumer's lock: lock the letters, look who is ahead of whom.
2. Handle the events that may be played, in the hope that nothing fails.
3. Close their letters, end their items, add the lane's totals, let followers join; commit.
4. If something failed in 2, all of it is rolled back and done again with a savepoint for each event; those that fail
   there are recorded as failed, and what follows them in their sequences is held.
If the worker dies before the commit, nothing of the slice happened (see trial.py for the note that is left); handlers
with effects outside get one event a slice, so at most that one is done again.
"""

from dataclasses import replace

from django.db import connection, transaction
from django.utils import timezone

from dashboard.runs.lanes import Hold, LaneLostError
from dlq.replay.options import ReplayOptions
from dlq.replay.outcomes import Results
from dlq.replay.playing import ASK_AGAIN, find_events, play_carefully, play_hopefully
from dlq.replay.queue import join_followers
from dlq.replay.rows import Ahead, lock_rows
from dlq.replay.trial import MOST_DEATHS, Trial, clear
from dlq.replay.watch import NoWatch, Watch
from projections.api import (
    Alarm,
    Effects,
    HandlerTimeoutError,
    Projector,
    find_standing,
    is_outage,
    lock_consumer,
)

# Beside the consumer's shared lock: two runs may have letters of one sequence, and must not play them at once.
BUCKET_LOCK = "SELECT pg_advisory_xact_lock(%s, hashtext(%s))"
# The first of two keys; any number that nobody else uses.
BUCKET_CLASS = 0x7265706C


class WorkerDied(Exception):
    """What a letter says that was never survived."""

    category = "poison"


class Undo(Exception):
    """Rolls back what a dry run did."""


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
    results = Results()
    with hold.recording() as lane:
        clear(lane)
        try:
            with transaction.atomic():
                play_in_transaction(hold, projector, trial, options, results, is_careful=is_careful)
                results.save_letters(hold.run)
                if options.dry_run:
                    raise Undo
        except Undo:
            # A group that was only made for the trial is gone with it.
            results.endings = [replace(ending, group_id=None) for ending in results.endings]
        results.end_items(lane)
        if not options.dry_run:
            lane.total += join_followers(hold.run, lane.number, results.succeeded)
    return results


def play_in_transaction(
    hold: Hold,
    projector: Projector,
    trial: Trial,
    options: ReplayOptions,
    results: Results,
    *,
    is_careful: bool,
) -> None:
    take_locks(projector, options.buckets(hold.number))
    standing = find_standing(projector.name)
    if standing is None or standing.is_rebuilding:
        results.wait_until = timezone.now() + ASK_AGAIN
        return
    rows = lock_rows(trial.item_ids)
    ahead = Ahead(rows)
    pairs = find_events(rows, projector, standing.position, ahead, results)
    with Alarm(projector.attempt_seconds) as alarm, Watch() if trial.is_watched else NoWatch() as watch:
        if trial.is_deadly:
            for row, event in pairs:
                died = WorkerDied(f"The worker died {MOST_DEATHS} times while it handled this event.")
                results.fail(row, died, payload=event.data, duration_ms=0, run=hold.run)
        elif is_careful:
            play_carefully(hold.run, projector, pairs, ahead, results, alarm, watch)
        else:
            play_hopefully(projector, pairs, ahead, results, alarm)


def take_locks(projector: Projector, buckets: list[int]) -> None:
    """The same in live consumption and rebuild: whoever writes the read model has the consumer's lock."""
    lock_consumer(projector.name, shared=projector.parallel_by_sequence)
    if projector.parallel_by_sequence:
        with connection.cursor() as cursor:
            for bucket in buckets:
                cursor.execute(BUCKET_LOCK, [BUCKET_CLASS, f"{bucket}:{projector.name}"])
