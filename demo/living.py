"""What the shop's process does: makes the past if there is none, then lives, one second at a time."""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import psycopg
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from dashboard.models import Heartbeat
from dashboard.workers.queries import has_live_beat, list_heartbeats, list_idle_queues
from demo import stories, timetable
from demo.models import Shop
from demo.night_shift import NightShift
from demo.past import make_past
from demo.pruning import is_full, prune
from demo.simulator import Simulator
from demo.sink import Sink
from demo.stories import ENDPOINT
from demo.warehouse.writer import Warehouse
from projections.runtime.clock import SystemClock

logger = logging.getLogger("demo")

TICK_SECONDS = 1.0
CHORES_EVERY_SECONDS = 15.0
# The console comes first; the shop opens when it is ready, or after so long.
READY_WITHIN_SECONDS = 60.0
# What a machine that slept longer than this, or had no database, missed is not made up for: a weekend would be 200,000
# events in one transaction.
MOST_MISSED = timedelta(minutes=1)


def open_shop(clock: SystemClock) -> None:
    """Live until the clock is stopped."""
    sink = Sink(seed=1)
    sink.start()
    try:
        Shop.objects.update_or_create(pk=1, defaults={"sink_port": sink.port})
        warehouse = Warehouse(settings.WAREHOUSE_URL, timezone.now(), speed=settings.DEMO_SPEED)
        wait_for_console(clock)
        make_past(sink, is_stopping=lambda: clock.is_stopping)
        if not clock.is_stopping:
            warehouse.make_past(timetable.PAST)
            live(sink, warehouse, clock)
    finally:
        sink.close()


def wait_for_console(clock: SystemClock) -> None:
    deadline = time.monotonic() + READY_WITHIN_SECONDS
    while time.monotonic() < deadline and goes_on_after(0.2, clock):
        if not list_idle_queues(list_heartbeats(Heartbeat.Kind.WORKER)) and has_live_beat():
            return


def goes_on_after(seconds: float, clock: SystemClock) -> bool:
    """Wait; False if we were told to stop."""
    clock.sleep(seconds)
    return not clock.is_stopping


def live(sink: Sink, warehouse: Warehouse, clock: SystemClock) -> None:
    began_at, speed = timezone.now(), settings.DEMO_SPEED
    simulator = Simulator(began_at, speed=speed)
    night_shift = NightShift(began_at, speed=speed)
    if not stories.is_on(ENDPOINT) and not clock.is_stopping:
        stories.begin(ENDPOINT, began_at, subject=simulator.choose_seller(), speed=speed)
    chores_at = time.monotonic() + CHORES_EVERY_SECONDS
    while goes_on_after(TICK_SECONDS, clock):
        wake_up(timezone.now(), simulator, warehouse, night_shift)
        run_safely(lambda: tick(simulator, sink))
        run_safely(lambda: warehouse.tick(timezone.now()))
        if time.monotonic() >= chores_at:
            chores_at = time.monotonic() + CHORES_EVERY_SECONDS
            run_safely(lambda: night_shift.look_around(timezone.now()))
            run_safely(lambda: tidy_up(simulator))
            run_safely(warehouse.prune)


def wake_up(now: datetime, simulator: Simulator, warehouse: Warehouse, night_shift: NightShift) -> None:
    """If the shop has slept, it goes on from now."""
    if now - simulator.at > MOST_MISSED:
        night_shift.sleeps.append((simulator.at, now))
        simulator.go_on_from(now)
    if now - warehouse.at > MOST_MISSED:
        warehouse.go_on_from(now)


def tick(simulator: Simulator, sink: Sink) -> None:
    now = timezone.now()
    timetable.follow_rhythm(now, speed=simulator.speed, seller=simulator.choose_seller())
    on = stories.current()
    sink.dead = on[ENDPOINT].subject if ENDPOINT in on else ""
    simulator.advance(now)


def tidy_up(simulator: Simulator) -> None:
    prune()
    simulator.is_closed = is_full()


def run_safely(step: Callable[[], object]) -> None:
    """A database that is away is the console's business; the shop waits and goes on."""
    try:
        step()
    except (DatabaseError, psycopg.Error) as error:
        logger.warning("The shop waits: %s", error)
        connection.close()
