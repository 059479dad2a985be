"""What the projections forget, and when."""

from datetime import timedelta

from django.utils import timezone

from projections.models import LagSample, Pace

KEEP_SAMPLES = timedelta(days=2)
KEEP_PACES = timedelta(days=14)


def prune() -> None:
    now = timezone.now()
    LagSample.objects.filter(at__lt=now - KEEP_SAMPLES).delete()
    Pace.objects.filter(starts_at__lt=now - KEEP_PACES).delete()
