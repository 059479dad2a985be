"""Celery's scheduler, in memory: every job is short and frequent, so there is no schedule file to lose or corrupt."""

import logging
import os
import socket
import time
from typing import Any

from celery import beat
from django.db import DatabaseError, connection
from django.utils import timezone

from dashboard.models import Heartbeat
from dashboard.redis import RedisError, get_redis
from dashboard.workers.heartbeats import EVERY_SECONDS
from dashboard.workers.heartbeats import beat as write_heartbeat

logger = logging.getLogger(__name__)


class Scheduler(beat.Scheduler):
    """Says with every few ticks that it lives, and whether Redis answers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.started_at = timezone.now()
        self.next_heartbeat = 0.0

    def tick(self, *args: Any, **kwargs: Any) -> float:
        wait: float = super().tick(*args, **kwargs)
        if time.monotonic() >= self.next_heartbeat:
            self.next_heartbeat = time.monotonic() + EVERY_SECONDS
            self.write_heartbeats()
        return min(wait, EVERY_SECONDS)

    def write_heartbeats(self) -> None:
        name = socket.gethostname()
        try:
            write_heartbeat(Heartbeat.Kind.BEAT, name, started_at=self.started_at, pid=os.getpid())
            get_redis().ping()
            write_heartbeat(Heartbeat.Kind.REDIS, "redis", started_at=self.started_at)
        except (DatabaseError, RedisError) as error:
            logger.warning("heartbeat not complete: %s", error)
            connection.close()
