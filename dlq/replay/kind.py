"""The replay run: slice after slice of a lane, each of one consumer's letters, to that consumer's target."""

import time
from contextlib import suppress
from datetime import timedelta

from django.db import DatabaseError
from django.utils import timezone

from dashboard.models import Run
from dashboard.runs.kinds import MORE, Outcome, Step
from dashboard.runs.lanes import Hold, LaneLostError
from dlq.models import ReplaySwitch
from dlq.replay import confirming, ladder, outside, pace, queue, trial
from dlq.replay.handler import LetterSlice
from dlq.replay.options import ReplayOptions
from dlq.replay.outcomes import OUTCOMES, Results
from dlq.replay.trial import Trial
from dlq.targets import HandlerTarget, find_target

# How often a lane asks whether replays are allowed again.
STOPPED_SECONDS = 5
# While a lane has something to send it looks this often for what has been heard: the look costs what is on its way.
LOOK_SECONDS = 0.5


class TargetGoneError(Exception):
    """A consumer's target is no longer configured; the run cannot go on."""


class Replay:
    name = "replay"
    outcomes: tuple[Outcome, ...] = OUTCOMES

    def work(self, hold: Hold) -> Step:
        if ReplaySwitch.objects.exists():
            return Step(wait_until=timezone.now() + timedelta(seconds=STOPPED_SECONDS))
        # As it is now: its rung and pace change while the lane is held.
        hold.run = Run.objects.get(pk=hold.run.pk)
        options = ReplayOptions.of(hold.run)
        if hold.run.options.get("confirms") and (step := self.hear(hold)):
            return step
        rung, most = ladder.get_rung(hold.run), pace.UNLIMITED
        if options.pace:
            following = self.list_next(hold.run, hold.number, rung=rung, limit=1)
            if not following:
                # One that only waits for the others must not use up what they may play.
                return ladder.climb(hold)
            most = self.batch_size(following[0].source, following[0].consumer)
        limit = pace.allot(hold.run, options, most)
        if not isinstance(limit, int):
            return Step(wait_until=limit)
        found = trial.begin(
            hold,
            self.list_next,
            rung=rung,
            limit=limit,
            by_sequence=options.dry_run,
            batch_size=self.batch_size,
        )
        if found is None:
            return ladder.climb(hold)
        try:
            # A sequence that is not cut in two may be longer than what was allotted.
            pace.charge(hold.run, options, len(found.item_ids) - limit)
            results = self.play(hold, found, options)
        except LaneLostError:
            raise
        except Exception:
            # The worker lives; if the database does not, the note stays and counts as a death.
            with suppress(DatabaseError, LaneLostError):
                trial.withdraw(hold)
            raise
        ladder.watch(hold.run, results)
        pace.adjust(hold.run, options, results)
        return Step(wait_until=results.wait_until) if results.wait_until else MORE

    def hear(self, hold: Hold) -> Step | None:
        """Settle what was sent and has been heard of; None: there is more to send."""
        if self.has_next(hold) and time.monotonic() - hold.looked_at < LOOK_SECONDS:
            return None
        results = confirming.settle(hold)
        hold.looked_at = time.monotonic()
        if results.failed_count:
            ladder.watch(hold.run, results)
            return MORE
        return None if self.has_next(hold) else confirming.wait(hold)

    def has_next(self, hold: Hold) -> bool:
        return bool(self.list_next(hold.run, hold.number, rung=ladder.get_rung(hold.run), limit=1))

    def list_next(self, run: Run, lane: int, *, rung: int, limit: int) -> list[queue.Next]:
        return queue.list_next(run, lane, rung=rung, limit=limit)

    def batch_size(self, source: str, consumer: str) -> int:
        """How many can be tried together."""
        target = find_target(source, consumer)
        return target.batch_size if isinstance(target, HandlerTarget) else 1

    def play(self, hold: Hold, found: Trial, options: ReplayOptions) -> Results:
        target = find_target(found.source, found.consumer)
        if isinstance(target, HandlerTarget):
            return LetterSlice(hold, target.projector, found, options).play()
        if target:
            return outside.play(hold, target, found)
        raise TargetGoneError(f"{found.consumer} of {found.source} has no target any more.")
