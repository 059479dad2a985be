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
from dlq.replay.playing import ASK_AGAIN, Pair, find_events, play_carefully, play_hopefully
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


class LetterSlice:
    """The letters that are tried together; of a reprocessing it is events (see reprocess/play.py)."""

    def __init__(self, hold: Hold, projector: Projector, trial: Trial, options: ReplayOptions) -> None:
        self.hold = hold
        self.projector = projector
        self.trial = trial
        self.options = options

    def play(self) -> Results:
        """What it did is committed, or in a dry run only counted."""
        if self.projector.effects == Effects.DATABASE and not self.trial.is_watched:
            try:
                return self.attempt(is_careful=False)
            except LaneLostError:
                raise
            except (Exception, HandlerTimeoutError) as error:
                if is_outage(error):
                    raise
        return self.attempt(is_careful=True)

    def attempt(self, *, is_careful: bool) -> Results:
        with self.hold.recording() as lane:
            clear(lane)
            with transaction.atomic():
                results = self.play_under_locks(is_careful=is_careful)
                results.save_letters(self.hold.run)
                if self.options.dry_run:
                    transaction.set_rollback(True)
                    # A group that was only made for the trial is gone with it.
                    results.endings = [replace(ending, group_id=None) for ending in results.endings]
            results.end_items(lane)
            if not self.options.dry_run:
                lane.total += self.join_followers(lane.number, results)
        return results

    def play_under_locks(self, *, is_careful: bool) -> Results:
        take_locks(self.projector, self.options.buckets(self.hold.number))
        standing = find_standing(self.projector.name)
        if standing is None or standing.is_rebuilding:
            return Results(wait_until=timezone.now() + ASK_AGAIN)
        results, pairs, ahead = self.find_playable(standing.position)
        is_watched = self.trial.is_watched
        with Alarm(self.projector.attempt_seconds) as alarm, Watch() if is_watched else NoWatch() as watch:
            if self.trial.is_deadly:
                for row, event in pairs:
                    died = WorkerDied(f"The worker died {MOST_DEATHS} times while it handled this event.")
                    results.fail(row, died, payload=event.data, duration_ms=0, run=self.hold.run)
            elif is_careful:
                play_carefully(self.hold.run, self.projector, pairs, ahead, results, alarm, watch)
            else:
                play_hopefully(self.projector, pairs, ahead, results, alarm)
        return results

    def find_playable(self, checkpoint: int) -> tuple[Results, list[Pair], Ahead]:
        """What may be tried, in order; of the others the results say why not."""
        rows = lock_rows(self.trial.item_ids)
        results, ahead = Results(), Ahead(rows)
        return results, find_events(rows, self.projector, checkpoint, ahead, results), ahead

    def join_followers(self, lane: int, results: Results) -> int:
        return join_followers(self.hold.run, lane, results.succeeded)


def take_locks(projector: Projector, buckets: list[int]) -> None:
    """The same in live consumption and rebuild: whoever writes the read model has the consumer's lock."""
    lock_consumer(projector.name, shared=projector.parallel_by_sequence)
    if projector.parallel_by_sequence:
        with connection.cursor() as cursor:
            for bucket in buckets:
                cursor.execute(BUCKET_LOCK, [BUCKET_CLASS, f"{bucket}:{projector.name}"])
