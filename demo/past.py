"""A believable past, made by the shop's own code, the runtime and the breakers under a moved clock.

1. Every projection is paused, which keeps live consumers away; we take its turns by a hand that works on paused ones.
2. Slice by slice: stories are told, events appended, then every projection consumes what is there, at the time of each
   event (consumers.py moves the clock). The slice's end is written with its events, so that after a death the next
   start goes on from there.
3. At the present the projections that are still paused go live; the one that stopped stays stopped.
Failures, retries, parked letters, skips and breakers are what really happened in handlers; only the time is moved.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from demo import clock, stories, timetable
from demo.clock import MovedClock
from demo.models import Shop
from demo.pricing import get_shop
from demo.simulator import Simulator
from demo.sink import Sink
from demo.stories import ENDPOINT, SLOW
from dlq.sampling import take_sample
from projections.api import Projector, list_projectors
from projections.lag import take_samples
from projections.models import NATIVE, LagSample, Projection, WaitingEvent
from projections.runtime.hand import Hand
from projections.runtime.turn import take_turn

logger = logging.getLogger("demo")

State = Projection.State
PAST_HAND = Hand(State.PAUSED, batch_size=500, commits_each=False)
# Orders come more slowly then, which makes it quick; products are looked at only towards the end.
SLOWDOWN = 3.0
VIEWS_FOR = timedelta(minutes=5)
# Slices are shorter towards the present, where charts look closely.
LONG, SHORT = timedelta(minutes=5), timedelta(minutes=1)
CLOSE = timedelta(minutes=10)
# A failed try is repeated within the slice if its wait ends this soon after it.
PATIENCE = timedelta(seconds=30)
# What the slow search index manages in a second.
SLOW_RATE = 0.5


def make_past(sink: Sink, *, is_stopping: Callable[[], bool] = lambda: False) -> None:
    """Make what is missing of it."""
    shop = get_shop()
    if shop.is_past_made:
        return
    began = timezone.now()
    at = shop.past_at or began - timetable.PAST
    present = (shop.past_from or at) + timetable.PAST
    if shop.past_from is None:
        Shop.objects.filter(pk=1).update(past_from=at, released_at=at - timedelta(days=2))
        get_shop.forget()
    pause_all()
    # A crash of the server may cost the last moments of the past: they are made again.
    execute("SET synchronous_commit = off")
    try:
        with quietly():
            count = live_through(at, present, sink, is_stopping)
    finally:
        execute("RESET synchronous_commit")
    if not is_stopping():
        sample_anew(present)
        go_live()
        took = (timezone.now() - began).total_seconds()
        logger.info("A past of %s with %s events was made in %.1f s.", timetable.PAST, count, took)


@contextmanager
def quietly() -> Iterator[None]:
    """The past's failures are for the pages, not for today's log."""
    logs = [logging.getLogger(name) for name in ("projections.consume", "breakers.contact")]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log in logs:
            log.setLevel(logging.NOTSET)


def live_through(at: datetime, present: datetime, sink: Sink, is_stopping: Callable[[], bool]) -> int:
    simulator = Simulator(at)
    count = 0
    for to in list_slices(at, present):
        if is_stopping():
            break
        with clock.moved(MovedClock(at)):
            timetable.follow_script(present, at)
            on = stories.current()
            sink.dead = on[ENDPOINT].subject if ENDPOINT in on else ""
            count += simulator.advance(to, is_past=True, views=present - to < VIEWS_FOR, slowdown=SLOWDOWN)
        for projector in list_projectors():
            consume(projector, at, to)
        take_sample(to)
        take_samples(to)
        at = to
    return count


def list_slices(at: datetime, present: datetime) -> Iterator[datetime]:
    """The ends of slices: none goes past the beginning or the end of a story."""
    turning_points = [*timetable.list_turning_points(present), present]
    while at < present:
        longest = SHORT if present - at < CLOSE else LONG
        at = min([at + longest, *(point for point in turning_points if point > at)])
        yield at


def consume(projector: Projector, at: datetime, to: datetime) -> None:
    """Let a projection do what it would have done between two moments."""
    is_slow = projector.name == "search-index" and stories.is_on(SLOW)
    with clock.moved(MovedClock(at)) as moved:
        if is_slow:
            # A turn is a batch here, and a batch is as much as it manages.
            take_turn(
                projector, replace(PAST_HAND, batch_size=int((to - at).total_seconds() * SLOW_RATE)), moved
            )
            return
        take_turns(projector, moved, to)
        if WaitingEvent.objects.filter(projection__name=projector.name, next_at__lte=to).exists():
            # A breaker may let them through by the end.
            moved.come_to(to)
            take_turns(projector, moved, to)


def take_turns(projector: Projector, moved: MovedClock, to: datetime) -> None:
    while True:
        if take_turn(projector, PAST_HAND, moved) == 0:
            continue
        next_at = Projection.objects.values_list("next_at", flat=True).get(source=NATIVE, name=projector.name)
        if next_at is None or next_at > to + PATIENCE:
            return
        moved.come_to(next_at)


def pause_all() -> None:
    """Only those that run: what stopped in a past that was cut short stays stopped."""
    names = [projector.name for projector in list_projectors()]
    Projection.objects.filter(source=NATIVE, name__in=names, state=State.RUNNING).update(state=State.PAUSED)


def sample_anew(present: datetime) -> None:
    """What beat sampled meanwhile shows a shop half-way through its past."""
    LagSample.objects.filter(at__gt=present).delete()
    take_sample()
    take_samples()


def go_live() -> None:
    names = [projector.name for projector in list_projectors()]
    paused = Projection.objects.filter(source=NATIVE, name__in=names, state=State.PAUSED)
    paused.update(state=State.RUNNING, state_since=Now())
    Shop.objects.filter(pk=1).update(is_past_made=True)
    get_shop.forget()


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
