from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Heartbeat
from dashboard.workers.heartbeats import beat
from dashboard.workers.queries import QUEUES
from dlq.api import Failure, record_failures


@pytest.fixture
def _alive(db: None) -> None:
    """Everything that must run does."""
    for kind in (Heartbeat.Kind.WORKER, Heartbeat.Kind.BEAT, Heartbeat.Kind.REDIS):
        beat(kind, "here", started_at=timezone.now(), queues=[*QUEUES])


@pytest.fixture
def fail(db: None) -> Callable[..., None]:
    """So many letters of a consumer, failed so long ago."""

    def fail(consumer: str, number: int = 1, *, ago: timedelta = timedelta(), **fields: Any) -> None:
        given: dict[str, Any] = {"error_type": "ValueError", "error_message": "bad total"}
        failed_at: datetime = timezone.now() - ago
        given |= {"consumer": consumer, "failed_at": failed_at} | fields
        record_failures(Failure(**given | {"event_id": f"{consumer}-{failed_at}-{n}"}) for n in range(number))

    return fail
