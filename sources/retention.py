"""What the sources forget: rows that moved, after a month; rows of letters go with their letters."""

from datetime import timedelta

from django.utils import timezone

from sources.models import MovedRow

KEEP_MOVED_DAYS = 30


def prune() -> None:
    MovedRow.objects.filter(at__lt=timezone.now() - timedelta(days=KEEP_MOVED_DAYS)).delete()
