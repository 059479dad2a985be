"""Celery's scheduler, in memory: every job is short and frequent, so there is no schedule file to lose or corrupt."""

import os
import socket
import threading
from typing import Any

from celery import beat

from dashboard.models import Heartbeat
from dashboard.redis import RedisError, get_redis
from dashboard.workers.heartbeats import keep_beating


class Scheduler(beat.Scheduler):
    """Says that it lives, and whether Redis answers, from a thread: without Redis the scheduler itself waits for it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name, facts = socket.gethostname(), {"pid": os.getpid()}
        for target, arguments in ((keep_beating, (Heartbeat.Kind.BEAT, name, facts)), (watch_redis, ())):
            threading.Thread(target=target, args=arguments, daemon=True).start()


def watch_redis() -> None:
    """Note every few seconds that Redis answered; silence then tells since when it does not."""
    keep_beating(Heartbeat.Kind.REDIS, "redis", {}, is_alive=redis_answers)


def redis_answers() -> bool:
    try:
        return bool(get_redis().ping())
    except RedisError:
        return False
