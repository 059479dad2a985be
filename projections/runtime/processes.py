"""The parent behind `manage.py consume`: one process for each projection, so that none can hold up another.

A child that dies is started again, after a second at first and then ever later. The children leave by themselves when
their parent is gone, at the latest after the batch in hand; should a new parent's children be faster, the consumer's
lock keeps them apart.
"""

import logging
import multiprocessing
import os
import signal
import socket
import time
from datetime import datetime
from multiprocessing.context import ForkProcess

from django.db import DatabaseError, connections
from django.utils import timezone

from dashboard.models import Heartbeat
from dashboard.workers.heartbeats import EVERY_SECONDS, beat
from projections.definition import Projector
from projections.models import NATIVE, Projection
from projections.runtime.clock import SystemClock
from projections.runtime.consumer import consume

logger = logging.getLogger("projections.consume")

MOST_RESTART_SECONDS = 30.0
# A child that does not end is told to this often.
TOLD_AGAIN_SECONDS = 1.0
# A child that lived this long has recovered.
RECOVERED_SECONDS = 60.0


class Child:
    """The process of one projection, and when to start it again."""

    def __init__(self, projector: Projector) -> None:
        self.projector = projector
        self.failures = 0
        self.start()

    def start(self) -> None:
        # A forked child shares sockets with its parent unless they are closed first.
        connections.close_all()
        context = multiprocessing.get_context("fork")
        self.process: ForkProcess = context.Process(
            target=run_child, args=(self.projector, os.getpid()), name=f"consume {self.projector.name}"
        )
        self.process.start()
        self.started_at = time.monotonic()
        self.restart_at: float | None = None

    def tend(self) -> None:
        """Notice a death, and start again when it is time."""
        now = time.monotonic()
        if self.restart_at is not None:
            if now >= self.restart_at:
                self.start()
        elif not self.process.is_alive():
            self.failures = 1 if now - self.started_at > RECOVERED_SECONDS else self.failures + 1
            self.restart_at = now + min(2.0 ** (self.failures - 1), MOST_RESTART_SECONDS)
            code = self.process.exitcode
            logger.error("projection=%s: its process ended (%s); starting again", self.projector.name, code)


def run_child(projector: Projector, parent: int) -> None:
    clock = SystemClock()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: clock.stop())
    consume(projector, clock, parent=parent)


def run_parent(projectors: list[Projector]) -> None:
    """Run until SIGTERM or SIGINT; then let every child end its batch."""
    clock = SystemClock()
    children = [Child(projector) for projector in projectors]
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: clock.stop())
    name, started_at, next_beat = f"{socket.gethostname()}:{os.getpid()}", timezone.now(), 0.0
    while not clock.is_stopping:
        for child in children:
            child.tend()
        if time.monotonic() >= next_beat:
            next_beat = time.monotonic() + EVERY_SECONDS
            write_heartbeat(name, started_at, children)
        clock.sleep(0.2)
    for child in children:
        child.process.terminate()
    for child in children:
        while child.process.is_alive():
            # One that has only just been started has its parent's handler still, which does not stop it.
            child.process.terminate()
            child.process.join(TOLD_AGAIN_SECONDS)
    Heartbeat.objects.filter(kind=Heartbeat.Kind.CONSUMER, name=name).delete()


def list_consumed(projectors: list[Projector]) -> list[str]:
    """Those that its children do consume: of the others newer code has declared other types; see trial.py."""
    declared = dict(Projection.objects.filter(source=NATIVE).values_list("name", "event_types"))
    return [one.name for one in projectors if declared.get(one.name) == one.event_types]


def write_heartbeat(name: str, started_at: datetime, children: list[Child]) -> None:
    try:
        projectors = [child.projector for child in children]
        facts = {"pid": os.getpid(), "projections": list_consumed(projectors)}
        beat(Heartbeat.Kind.CONSUMER, name, started_at=started_at, **facts)
    except DatabaseError as error:
        logger.warning("heartbeat not written: %s", error)
    finally:
        # Before the next child is forked there must be no connection to share.
        connections.close_all()
