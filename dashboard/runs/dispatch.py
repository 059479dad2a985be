"""Messages for runs. A message is only a hint that a lane has work; losing one, or all, costs time and nothing else."""

import logging
import time
from functools import cache

from celery import current_app
from django.conf import settings
from django.db.models import F, Q
from django.db.models.functions import Now
from kombu import Connection
from kombu.exceptions import KombuError
from kombu.pools import producers

from dashboard.models import Lane, Run
from dashboard.redis import RedisError, get_redis
from dashboard.runs import lanes, states
from dashboard.runs.kinds import RUNS_QUEUE, get_queue, list_queues

logger = logging.getLogger(__name__)

# Somebody waits for the page; beat has more time.
PATIENCE_SECONDS = 1.0
# What one pass of beat looks at, of runs and of each queue.
PASS_SIZE = 200


def dispatch(run: Run) -> None:
    """Send a message for each lane of the run, in bounded time; what is not sent stays pending and beat sends it."""
    end = time.monotonic() + PATIENCE_SECONDS
    for lane in run.lanes.filter(is_done=False).order_by("number"):
        if not send_lane(run, lane.number, lane.epoch) or time.monotonic() > end:
            return


def send_lane(run: Run, number: int, epoch: int) -> bool:
    """Send one message, in bounded time; False, and a line in the log, if Redis did not take it."""
    try:
        # A pooled connection to a server that hangs is tried and renewed several times; ours fails once.
        get_redis().ping()
        with producers[publisher()].acquire(block=True, timeout=1) as producer:
            current_app.send_task(
                "dashboard.tasks.run_lane",
                (run.pk, number, epoch),
                queue=get_queue(run.kind),
                producer=producer,
                retry=False,
            )
    except (KombuError, RedisError, OSError) as error:
        logger.warning(
            "run %s lane %s: Redis did not take the message (%s); beat will send it", run.pk, number, error
        )
        return False
    # Unless a quick worker has taken it already.
    Lane.objects.filter(run=run, number=number, epoch=epoch).update(dispatched_at=Now())
    return True


@cache
def publisher() -> Connection:
    """A connection that gives up quickly: somebody is waiting for the page."""
    return current_app.connection_for_write(
        transport_options={"socket_timeout": 0.4, "socket_connect_timeout": 0.4}
    )


def tend_runs() -> None:
    """Settle runs that nobody holds, and send again what was lost; beat does this every few seconds."""
    active = Run.objects.exclude(state__in=[*Run.ENDED, Run.State.PAUSED]).order_by("id")
    # Those that wait for a worker apart: many of them must not stand before one that was asked to end.
    pending = Q(state=Run.State.PENDING)
    for runs in (active.exclude(pending), active.filter(pending)):
        for run_id in runs.values_list("pk", flat=True)[:PASS_SIZE]:
            states.settle(run_id)
    free = Lane.objects.filter(lanes.is_free(), lanes.is_due(), is_done=False, run__state__in=Run.WORKABLE)
    # A message that nobody acted on for half a lease may be lost; the lane's epoch makes one too many harmless.
    lost = Q(dispatched_at=None) | Q(dispatched_at__lt=lanes.in_seconds(-settings.RUN_LEASE_SECONDS / 2))
    # Each queue by itself: lanes that wait in one that nobody takes must not stand before those of another.
    for queue, kinds in list_queues().items():
        ours = free.filter(is_for(queue, kinds))
        order = (F("dispatched_at").asc(nulls_first=True), "run_id", "number")
        some = list(ours.filter(lost).select_related("run").order_by(*order)[:PASS_SIZE])
        if some and has_all(queue, ours.exclude(dispatched_at=None).count()):
            # They were sent for others: a lane that was sent none has none there, however many wait.
            some = [lane for lane in some if lane.dispatched_at is None]
        for lane in some:
            if not send_lane(lane.run, lane.number, lane.epoch):
                return


def is_for(queue: str, kinds: list[str]) -> Q:
    """The queue's lanes; a run whose code is gone is for the common one, as `get_queue` says, and fails there."""
    if queue != RUNS_QUEUE:
        return Q(run__kind__in=kinds)
    others = [kind for name, kinds in list_queues().items() if name != RUNS_QUEUE for kind in kinds]
    return ~Q(run__kind__in=others)


def has_all(queue: str, number: int) -> bool:
    """True if as many messages wait as were sent and not acted on: then none is lost, they are only not taken yet."""
    try:
        return int(get_redis().llen(queue)) >= number
    except RedisError:
        return True
