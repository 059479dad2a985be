from datetime import datetime
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser

from dlq.masking import Masker
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
    rows = letters.only(*RecentLetter._fields, "mask_key").order_by("-last_failed_at", "-id")
    # Everybody sees them, and what was masked by other rules than today's may hold what is masked.
    masker = Masker(AnonymousUser())
    return [
        RecentLetter(
            row.pk, row.event_type, row.error_type, masker.summary(row), row.status, row.last_failed_at
        )
        for row in rows[:limit]
    ]
