"""What the section forgets, in Redis and in Postgres."""

from datetime import timedelta

from django.utils import timezone

from breakers import scripts
from breakers.models import Breaker, State, Transition, Trip
from dashboard.redis import get_redis

KEEP_HISTORY = timedelta(days=30)


def prune() -> None:
    long_ago = timezone.now() - KEEP_HISTORY
    Transition.objects.filter(at__lt=long_ago).delete()
    # Who tripped what, and why, stays in the audit trail.
    Trip.objects.filter(is_lifted=True, ended_at__lt=long_ago).delete()
    Breaker.objects.filter(seen_at__lt=long_ago, state=State.CLOSED, trips=None).delete()
    scripts.prune(get_redis().execute_command, "", None)
