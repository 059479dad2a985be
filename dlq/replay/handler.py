"""Playing letters through the handler of one of our own projections, all of a slice in one transaction.

1. Under the lane's lock and the consumer's lock: lock the letters, look who is ahead of whom.
2. Handle the events that may be played, in the hope that nothing fails.
3. Close their letters, end their items, add the lane's totals, let followers join.
4. If those who joined are few, do 2 and 3 with them too. Live consumption waits for the lock meanwhile and goes on by
   itself; else the two could take turns for ever, each time with one more that was parked in between. Commit.
5. If something failed, all of it is rolled back and done again with a savepoint for each event and without 4; those
   that fail there are recorded as failed, and what follows them in their sequences is held.
If the worker dies before the commit, nothing of the slice happened (see trial.py for the note that is left); handlers
with effects outside get one event a slice, so at most that one is done again. A death in 4 counts for those of 2, whom
the note names; tried under watch they have no 4, and the one that kills is found when its turn comes.
"""

from django.db import connection, transaction
from django.utils import timezone

from dashboard.models import Lane
from dashboard.runs.lanes import Hold, LaneLostError
from dlq.replay.ladder import get_rung
from dlq.replay.options import REST, ReplayOptions
from dlq.replay.outcomes import FAILED, SUCCEEDED, Results
from dlq.replay.playing import ASK_AGAIN, Pair, find_events, play_carefully, play_hopefully
from dlq.replay.queue import Joined, join_followers
from dlq.replay.rows import Ahead, lock_rows
from dlq.replay.took import Took
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
            return self.play_and_save(lane, self.trial.item_ids, is_careful=is_careful)

    def play_and_save(self, lane: Lane, item_ids: list[int], *, is_careful: bool) -> Results:
        with transaction.atomic():
            results = self.play_under_locks(lane, item_ids, is_careful=is_careful)
            results.save_letters(self.hold.run)
            if self.options.dry_run:
                results.name_new_errors()
                transaction.set_rollback(True)
        results.end_items(lane)
        if self.options.dry_run:
            remember_undone(lane, results)
            return results
        joined = self.join_followers(lane.number, results)
        lane.total += joined.total
        if joined.item_ids and not is_careful and get_rung(self.hold.run) == REST:
            # They are all of their sequences, so nobody joins behind them.
            results.endings += self.play_and_save(lane, joined.item_ids, is_careful=False).endings
        return results

    def play_under_locks(self, lane: Lane, item_ids: list[int], *, is_careful: bool) -> Results:
        take_locks(self.projector, self.options.buckets(self.hold.number))
        standing = find_standing(self.projector.name)
        if standing is None or standing.is_rebuilding:
            return Results(wait_until=timezone.now() + ASK_AGAIN)
        results, pairs, ahead = self.find_playable(item_ids, standing.position)
        if self.options.dry_run:
            pairs = hold_behind_undone(lane, pairs, results)
        is_watched = self.trial.is_watched
        with Alarm(self.projector.attempt_seconds) as alarm, Watch() if is_watched else NoWatch() as watch:
            if self.trial.is_deadly:
                for row, event in pairs:
                    died = WorkerDied(f"The worker died {MOST_DEATHS} times while it handled this event.")
                    results.fail(
                        row, died, payload=event.data, took=Took(timezone.now(), 0), run=self.hold.run
                    )
            elif is_careful:
                stop_after = self.options.stop_after
                play_carefully(self.hold.run, self.projector, pairs, ahead, results, alarm, watch, stop_after)
            else:
                play_hopefully(self.projector, pairs, ahead, results, alarm)
        return results

    def find_playable(self, item_ids: list[int], checkpoint: int) -> tuple[Results, list[Pair], Ahead]:
        """What may be tried, in order; of the others the results say why not."""
        rows = lock_rows(item_ids)
        results, ahead = Results(), Ahead(rows)
        return results, find_events(rows, self.projector, checkpoint, ahead, results), ahead

    def join_followers(self, lane: int, results: Results) -> Joined:
        return join_followers(self.hold.run, lane, results.succeeded, room=self.trial.room)


def remember_undone(lane: Lane, results: Results) -> None:
    """A dry run goes sequence by sequence, so only the last that was tried may go on in the next slice."""
    tried = [one.row for one in results.endings if one.outcome is SUCCEEDED or one.outcome.name in FAILED]
    if tried:
        lane.cursor["undone"] = list(max(tried).sequence)


def hold_behind_undone(lane: Lane, pairs: list[Pair], results: Results) -> list[Pair]:
    """What goes on with a sequence of which the first are undone is not tried: it would not find what they did."""
    tried = []
    for row, event in pairs:
        if row.sequence_key and list(row.sequence) == lane.cursor.get("undone"):
            results.hold(row, "earlier ones of the same sequence were tried and undone already")
        else:
            tried.append((row, event))
    return tried


def take_locks(projector: Projector, buckets: list[int]) -> None:
    """The same in live consumption and rebuild: whoever writes the read model has the consumer's lock."""
    lock_consumer(projector.name, shared=projector.parallel_by_sequence)
    if projector.parallel_by_sequence:
        with connection.cursor() as cursor:
            for bucket in buckets:
                cursor.execute(BUCKET_LOCK, [BUCKET_CLASS, f"{bucket}:{projector.name}"])
