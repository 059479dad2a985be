"""The reprocessing run: a replay of which the items are events of the store, all of one projection."""

from dashboard.models import Run
from dashboard.runs.kinds import Outcome
from dashboard.runs.lanes import Hold
from dlq.replay.kind import Replay, TargetGoneError
from dlq.replay.options import ReplayOptions
from dlq.replay.outcomes import HELD, NEW, SAME, SKIPPED, SUCCEEDED, Results
from dlq.replay.queue import Next
from dlq.replay.trial import Trial
from dlq.reprocess import queue
from dlq.reprocess.play import EventSlice
from dlq.targets.handler import HandlerTarget, find_handler
from projections.api import NATIVE


class Reprocess(Replay):
    name = "reprocess"
    outcomes: tuple[Outcome, ...] = (SUCCEEDED, SAME, NEW, HELD, SKIPPED)

    def list_next(self, run: Run, lane: int, *, rung: int, limit: int) -> list[Next]:
        return queue.list_next(run, lane, rung=rung, limit=limit)

    def batch_size(self, source: str, consumer: str) -> int:
        """Whatever target its letters may have: events of the store go to the handler."""
        return get_handler(consumer).batch_size

    def play(self, hold: Hold, found: Trial, options: ReplayOptions) -> Results:
        return EventSlice(hold, get_handler(found.consumer).projector, found, options).play()


def get_handler(consumer: str) -> HandlerTarget:
    found = find_handler(NATIVE, consumer)
    if found is None:
        raise TargetGoneError(f"No installed app registers {consumer!r} any more.")
    return found
