from datetime import datetime
from typing import NamedTuple

from dlq.models import DeadLetter


class RecentLetter(NamedTuple):
    """A letter as another section shows it, with nothing that would have to be masked."""

    id: int
    event_type: str
    error_type: str
    summary: str
    status: str
    last_failed_at: datetime


def list_recent(consumer: str, *, source: str, limit: int) -> list[RecentLetter]:
    """The newest failures of a consumer; events that were only ever parked have not failed and are left out."""
    letters = DeadLetter.objects.filter(source=source, consumer=consumer).exclude(group=None)
    rows = letters.order_by("-last_failed_at", "-id").values_list(*RecentLetter._fields)
    return [RecentLetter(*row) for row in rows[:limit]]
