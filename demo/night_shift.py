"""Colleagues who deal with what nobody else has dealt with for hours: the shop must not drown when it is left alone.

They do it as everybody does, by operations that are audited, and only what has waited while the shop was open.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from uuid import uuid4

from django.db.models import Q

from breakers.models import Trip
from breakers.operations import BreakerError, reset_breaker
from dashboard.models import Run
from dashboard.runs.operations import cancel_run
from dashboard.runs.states import RunStateError
from demo import operations
from demo.operations import ShopError
from demo.pricing import get_shop
from demo.visit import CONSUMER, ERROR_TYPE
from dlq.items import without_active
from dlq.models import DeadLetter, FailureGroup, ReplaySwitch
from dlq.models.words import Status, Tier
from dlq.operations import allow_replays, handle_letters, start_replay
from dlq.operations.errors import OperationError
from dlq.preview import preview
from dlq.queries.replay import preview_replay
from dlq.replay.options import ReplayOptions
from dlq.selection import select_group, select_ids
from dlq.verbs import VERBS
from projections.models import NATIVE, Projection
from projections.operations import ProjectionStateError, dead_letter_event, resume_projection

logger = logging.getLogger("demo")

REFUSALS = (BreakerError, OperationError, ProjectionStateError, RunStateError, ShopError)

ACTOR = "night shift"
LEDGER_WAITS = timedelta(hours=1)
RELEASE_WAITS = timedelta(hours=3)
LETTERS_WAIT = timedelta(hours=3)
PAUSE_LASTS = timedelta(hours=3)
# What it does is on record for ever, failures too: so it goes in rounds, and a round leaves a few entries, whatever it
# settles.
ROUND_EVERY = timedelta(minutes=10)
MOST_LETTERS = 150
# What a replay after the fix puts right: without force it takes nothing else.
MENDABLE = Q(
    consumer=CONSUMER, error_type=ERROR_TYPE, tier=Tier.DEAD_LETTER, offers_replay=True, erased_at=None
)


class NightShift:
    """`began_at` is when the shop opened: what stood still with it, then or while it slept, has not waited."""

    def __init__(self, began_at: datetime, *, speed: int) -> None:
        self.began_at = began_at
        self.speed = speed
        self.next_round_at = began_at
        # The machine's last sleeps, from when to when.
        self.sleeps: deque[tuple[datetime, datetime]] = deque(maxlen=100)

    def look_around(self, now: datetime) -> None:
        """If a round is due, deal with what has waited too long; what somebody else is busy with is left to them."""
        if now < self.next_round_at:
            return
        self.next_round_at = now + ROUND_EVERY / self.speed
        for deal in self.list_chores():
            try:
                deal(now)
            except REFUSALS as error:
                logger.info("The night shift leaves it: %s", error)

    def list_chores(self) -> Iterable[Callable[[datetime], None]]:
        return (
            self.free_ledger,
            self.end_pauses,
            self.end_holds,
            self.fix_release,
            self.end_runs,
            self.replay_fixed,
            self.resolve_old,
        )

    def has_waited(self, since: datetime, patience: timedelta, now: datetime) -> bool:
        return max(since, self.began_at) <= self.look_back(patience, now)

    def look_back(self, patience: timedelta, now: datetime) -> datetime:
        """When that began which by now has waited so long."""
        then = now - patience / self.speed
        for slept_at, woke_at in reversed(self.sleeps):
            if then < woke_at:
                then -= woke_at - slept_at
        return then

    def free_ledger(self, now: datetime) -> None:
        stopped = Projection.objects.filter(source=NATIVE, state=Projection.State.STOPPED)
        for row in stopped:
            if self.has_waited(row.state_since, LEDGER_WAITS, now):
                reason = "Nobody decided within the hour; the order's seller is paid by hand."
                dead_letter_event(row, row.position + 1, actor=ACTOR, reason=reason)

    def end_pauses(self, now: datetime) -> None:
        for row in Projection.objects.filter(source=NATIVE, state=Projection.State.PAUSED):
            if self.has_waited(row.state_since, PAUSE_LASTS, now):
                resume_projection(row, actor=ACTOR, reason="Whoever paused it has gone home.")

    def end_holds(self, now: datetime) -> None:
        """What somebody holds up until further notice: all replays, or what goes through a breaker."""
        for switch in ReplaySwitch.objects.all():
            if self.has_waited(switch.stopped_at, PAUSE_LASTS, now):
                allow_replays(actor=ACTOR, reason="Whoever stopped them has gone home.")
        for trip in Trip.objects.filter(ended_at=None).select_related("breaker"):
            if self.has_waited(trip.created_at, PAUSE_LASTS, now):
                reset_breaker(trip.breaker.name, actor=ACTOR, reason="Whoever tripped it has gone home.")

    def fix_release(self, now: datetime) -> None:
        shop = get_shop()
        if shop.is_buggy and self.has_waited(shop.released_at, RELEASE_WAITS, now):
            operations.deploy_fix(actor=ACTOR, reason="Nobody did within three hours.")

    def end_runs(self, now: datetime) -> None:
        """Runs that a failure or a visitor paused: their letters become free."""
        for run in Run.objects.filter(state=Run.State.PAUSED):
            if self.has_waited(run.events.latest("pk").at, PAUSE_LASTS, now):
                cancel_run(run, actor=ACTOR, reason="It was paused, and nobody went on with it.")

    def replay_fixed(self, now: datetime) -> None:
        """What the bug left is replayed once it is mended."""
        if get_shop().is_buggy:
            return
        for group in FailureGroup.objects.filter(consumer=CONSUMER, error_type=ERROR_TYPE):
            selection = select_group(group)
            oldest = without_active(selection.letters.filter(MENDABLE)).order_by("last_failed_at").first()
            if not oldest or not self.has_waited(oldest.last_failed_at, LETTERS_WAIT, now):
                continue
            count = preview_replay(selection).count
            if not count:
                continue
            start_replay(
                selection,
                confirmed=count,
                options=ReplayOptions(),
                actor=ACTOR,
                request_key=uuid4(),
                reason=f"{get_shop().version} has the rate.",
                acknowledged=True,
            )

    def resolve_old(self, now: datetime) -> None:
        """Whatever else is old is settled by hand; also what is parked long after its head was dealt with."""
        long_ago = self.look_back(LETTERS_WAIT, now)
        if long_ago < self.began_at:
            return
        failed = Q(status=Status.FAILED, last_failed_at__lt=long_ago) & ~MENDABLE
        parked = Q(status=Status.PARKED, last_failed_at__lt=self.look_back(2 * LETTERS_WAIT, now))
        old = without_active(DeadLetter.objects.filter(failed | parked)).order_by("last_failed_at")
        ids = list(old.values_list("pk", flat=True)[:MOST_LETTERS])
        if not ids:
            return
        verb, selection = VERBS["resolve"], select_ids(ids)
        handle_letters(
            verb,
            selection,
            confirmed=preview(verb, selection).total(with_followers=True),
            actor=ACTOR,
            request_key=uuid4(),
            reason="Settled by hand with the seller.",
            with_followers=True,
        )
