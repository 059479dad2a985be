"""Processes say every few seconds that they live, in Postgres, so that it is known while Redis is away."""

import logging
import os
import socket
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import DatabaseError, connection
from django.db.models.functions import Now
from django.utils import timezone

from dashboard.models import Heartbeat

logger = logging.getLogger(__name__)

EVERY_SECONDS = 5
# Three beats missed: a loaded machine may delay one or two.
SILENT_AFTER_SECONDS = 20

_stop = threading.Event()


def beat(kind: Heartbeat.Kind, name: str, *, started_at: datetime, **facts: Any) -> None:
    Heartbeat.objects.bulk_create(
        [Heartbeat(kind=kind, name=name, seen_at=Now(), started_at=started_at, facts=facts)],
        update_conflicts=True,
        unique_fields=["kind", "name"],
        update_fields=["seen_at", "started_at", "facts"],
    )


def keep_beating(
    kind: Heartbeat.Kind, name: str, facts: dict[str, Any], *, is_alive: Callable[[], bool] = lambda: True
) -> None:
    """Beat until the process ends or is asked to stop; run it in a thread, which has a connection of its own."""
    started_at = timezone.now()
    try:
        while True:
            try:
                if is_alive():
                    beat(kind, name, started_at=started_at, **facts)
            except DatabaseError as error:
                logger.warning("heartbeat not written: %s", error)
                connection.close()
            if _stop.wait(EVERY_SECONDS):
                # Whoever was asked to stop is not missing.
                Heartbeat.objects.filter(kind=kind, name=name).delete()
                return
    finally:
        connection.close()


def start_worker_heartbeat(consumer: Any) -> None:
    """Begin to beat for this Celery worker."""
    _stop.clear()
    facts = {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "queues": sorted(consumer.app.amqp.queues.consume_from),
        "concurrency": consumer.controller.concurrency,
    }
    arguments = (Heartbeat.Kind.WORKER, consumer.hostname, facts)
    threading.Thread(target=keep_beating, args=arguments, daemon=True, name="heartbeat").start()


def stop_worker_heartbeat() -> None:
    _stop.set()
