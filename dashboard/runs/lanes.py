"""Holding a lane: claim it, record under its lock, give it back.

If the worker dies
1. before `claim` commits: nothing happened;
2. after it: the lease runs out, `states.settle` or the next claim raises the epoch, another worker goes on
   from the last recording;
3. inside `recording`: the transaction is rolled back, and 2 follows;
4. after `release`: nothing is held; beat settles the run and sends the next message.
A worker that stalls past its lease and wakes up fails the check in `recording` and gives up.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from dashboard.models import Lane, Run
from dashboard.runs.kinds import Step

# A slice that raises is tried again after this long, doubled each time.
FIRST_ERROR_WAIT_SECONDS = 1


class LaneLostError(Exception):
    """Another worker has taken this lane over; nothing may be recorded for it any more."""


class Hold:
    """A worker's hold on a lane, for as long as its lease is renewed by recordings."""

    def __init__(self, lane: Lane, run: Run) -> None:
        self.lane_id = lane.pk
        self.number = lane.number
        self.epoch = lane.epoch
        self.run = run
        self._since = self._renewed_at = time.monotonic()
        # For a kind that need not look at every slice for what comes from elsewhere: when it last did.
        self.looked_at = float("-inf")
        self._done_at_claim = lane.done_count

    @property
    def remaining_seconds(self) -> float:
        """How long the lease lasts at least; what is sent outside must be over by then."""
        return self._renewed_at + settings.RUN_LEASE_SECONDS - time.monotonic()

    def lock(self) -> Lane:
        """The lane's row, locked until the caller's transaction ends; raises LaneLostError if it is no longer ours."""
        lane = (
            Lane.objects.select_for_update()
            .filter(pk=self.lane_id, epoch=self.epoch, leased_until__gt=Now())
            .first()
        )
        if lane is None:
            raise LaneLostError(f"run {self.run.pk} lane {self.number} has a new holder")
        return lane

    @contextmanager
    def recording(self) -> Iterator[Lane]:
        """Lock the lane, make sure that it is still ours, and save in one transaction what the block did."""
        with transaction.atomic():
            # The lock is held to the end of the block, so that a slow block cannot lose the lane half-way.
            lane = self.lock()
            done_before = lane.done_count
            yield lane
            renewed_at = time.monotonic()
            lane.leased_until = in_seconds(settings.RUN_LEASE_SECONDS)
            if lane.done_count > done_before:
                # Only progress counts: a slice may record that it begins, and then fail every time.
                lane.error_count = 0
            lane.rate = (lane.done_count - self._done_at_claim) / max(renewed_at - self._since, 0.001)
            lane.save(update_fields=["totals", "cursor", "total", "leased_until", "error_count", "rate"])
        self._renewed_at = renewed_at


def in_seconds(seconds: float) -> CombinedExpression:
    """A time from now by the database's clock: workers' clocks may differ."""
    return Now() + timedelta(seconds=seconds)


def is_free() -> Q:
    return Q(leased_until=None) | Q(leased_until__lte=Now())


def is_due() -> Q:
    return Q(not_before=None) | Q(not_before__lte=Now())


def claim(run_id: int, number: int, epoch: int, *, holder: str) -> Hold | None:
    """Take the lane with a new epoch; None if it is held, done, not due, or its run is not to be worked on.

    `epoch` is the one that the message was sent for: of several messages for one turn, only the first is acted on.
    """
    with transaction.atomic():
        lane = (
            Lane.objects.select_for_update(of=("self",), skip_locked=True)
            .select_related("run")
            .filter(is_free(), is_due(), run_id=run_id, number=number, epoch=epoch, is_done=False)
            .filter(run__state__in=Run.WORKABLE)
            .first()
        )
        if lane is None:
            return None
        lane.epoch += 1
        lane.leased_by = holder
        lane.leased_until = in_seconds(settings.RUN_LEASE_SECONDS)
        # Its message is taken: if the worker dies, beat sends another, whatever else waits in the queue.
        lane.dispatched_at = None
        lane.save(update_fields=["epoch", "leased_by", "leased_until", "dispatched_at"])
    return Hold(lane, lane.run)


def release(hold: Hold, step: Step) -> None:
    """Give the lane back; without effect if it has a new holder."""
    Lane.objects.filter(pk=hold.lane_id, epoch=hold.epoch).update(
        leased_until=None, is_done=step.is_done, not_before=step.wait_until, dispatched_at=None
    )


def release_after_error(hold: Hold) -> int:
    """Give the lane back after a slice that raised, to be tried later; returns the errors in a row."""
    with transaction.atomic():
        lane = Lane.objects.select_for_update().filter(pk=hold.lane_id, epoch=hold.epoch).first()
        if lane is None:
            return 0
        lane.error_count += 1
        lane.leased_until = None
        lane.not_before = in_seconds(FIRST_ERROR_WAIT_SECONDS * 2 ** (lane.error_count - 1))
        # No message is on its way: beat sends one as soon as the time has come.
        lane.dispatched_at = None
        lane.save(update_fields=["error_count", "leased_until", "not_before", "dispatched_at"])
    return lane.error_count


def fence_expired(run_id: int) -> None:
    """Raise the epoch of lanes whose holder let the lease run out; a lane locked right now has a living holder."""
    expired = Lane.objects.select_for_update(skip_locked=True).filter(run_id=run_id, leased_until__lte=Now())
    Lane.objects.filter(pk__in=[lane.pk for lane in expired]).update(epoch=F("epoch") + 1, leased_until=None)
