"""Trips between Postgres, where they are made, and Redis, where they act.

A trip is a row before it is in Redis. If the process dies between the two, or Redis is away or emptied, beat does it
again from the row: `hold.lua` changes nothing if this trip holds the breaker already, `reset.lua` nothing if another
one does.
"""

from django.db.models import F
from django.utils import timezone

from breakers import scripts
from breakers.models import Trip
from dashboard.redis import get_redis


def push_trips() -> None:
    """Make Redis hold what Postgres says is held, and let go of what is not; raises RedisError."""
    end_expired()
    for trip in Trip.objects.filter(ended_at=None).select_related("breaker"):
        hold(trip)
    for trip in Trip.objects.filter(is_lifted=False).exclude(ended_at=None).select_related("breaker"):
        lift(trip)


def hold(trip: Trip) -> None:
    until = int(trip.expires_at.timestamp() * 1000) if trip.expires_at else ""
    scripts.hold(get_redis().execute_command, trip.breaker.name, None, trip.pk, until)


def lift(trip: Trip) -> bool:
    """Let go of the breaker; False if Redis did not know of the trip."""
    was_held = bool(scripts.reset(get_redis().execute_command, trip.breaker.name, None, trip.pk))
    Trip.objects.filter(pk=trip.pk).update(is_lifted=True)
    return was_held


def end_expired() -> None:
    """A trip whose time is over has ended by itself: Redis lets a probe through without being told."""
    over = Trip.objects.filter(ended_at=None, expires_at__lte=timezone.now())
    over.update(ended_at=F("expires_at"), ended_by="its end", is_lifted=True)
