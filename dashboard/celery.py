"""The Celery application; `python -m celery -A dashboard.celery worker` starts a worker."""

import gc
import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_process_init, worker_ready, worker_shutting_down

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

app = Celery("redrive")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def keep_django_logging(**_: Any) -> None:
    """A receiver is enough: Celery then leaves the logging that Django set up alone."""


@worker_process_init.connect
def collect_seldom(**_: Any) -> None:
    """A batch is tens of thousands of objects, none of them garbage; looking through them costs a twelfth."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


@worker_ready.connect
def start_heartbeat(sender: Any, **_: Any) -> None:
    from dashboard.workers.heartbeats import start_worker_heartbeat

    start_worker_heartbeat(sender)


@worker_shutting_down.connect
def stop_heartbeat(**_: Any) -> None:
    from dashboard.workers.heartbeats import stop_worker_heartbeat

    stop_worker_heartbeat()
