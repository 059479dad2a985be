"""Trips between Postgres, where they are made, and Redis, where they act.

A trip is a row before it is in Redis. If the process dies between the two, or Redis is away or emptied, beat does it
again from the row: `hold.lua` changes nothing if this trip holds the breaker already, `reset.lua` nothing if another
one does. The end of a trip is a reset, also where Redis never heard of the trip: what is open there by itself is
closed, unless it left closed after that was asked for.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from breakers import scripts
from breakers.keys import SEEN_INDEX, breaker_key
from breakers.models import Breaker, Trip
from dashboard.redis import get_redis

# Who ended a trip whose time was over.
ITS_END = "its end"


def push_trips() -> None:
    """Make Redis hold what Postgres says is held, and let go of what is not; raises RedisError."""
    end_expired()
    for trip in Trip.objects.filter(ended_at=None).select_related("breaker"):
        hold(trip)
    # A server that took over may not have heard of the end, though another was told.
    wanted = Q(is_lifted=False) | Q(pk__in=list_held())
    ended = Trip.objects.filter(wanted).exclude(ended_at=None).exclude(ended_by=ITS_END)
    for trip in ended.select_related("breaker"):
        lift(trip, asked_at=trip.ended_at)


def list_held() -> list[int]:
    """The trips that hold breakers in Redis: those breakers were heard of, as it were, in the future."""
    now = int(timezone.now().timestamp() * 1000)
    names: Any = get_redis().zrangebyscore(SEEN_INDEX, now, "+inf")
    pipeline = get_redis().pipeline(transaction=False)
    for name in names:
        pipeline.hget(breaker_key(name), "held")
    return [int(held) for held in pipeline.execute() if held]


def hold(trip: Trip) -> None:
    """Unless it has ended: under the lock that its end takes, or a hold that is late would be nobody's to lift."""
    until = int(trip.expires_at.timestamp() * 1000) if trip.expires_at else ""
    with transaction.atomic():
        if Trip.objects.select_for_update().filter(pk=trip.pk, ended_at=None).first():
            scripts.hold(get_redis().execute_command, trip.breaker.name, None, trip.pk, until)


def lift(trip: Trip, *, asked_at: datetime | None = None) -> None:
    """Let go of the breaker, and close it if it was open by itself when that was asked for; None: now."""
    before = int(asked_at.timestamp() * 1000) if asked_at else ""
    scripts.reset(get_redis().execute_command, trip.breaker.name, None, trip.pk, before)
    Trip.objects.filter(pk=trip.pk).update(is_lifted=True)


def find_holding(breakers: Iterable[Breaker]) -> dict[int, Trip]:
    """The trips that hold these breakers open, by their ids; one whose time is over holds nothing more."""
    trips = Trip.objects.filter(breaker__in=breakers, ended_at=None).exclude(expires_at__lte=timezone.now())
    return {trip.breaker_id: trip for trip in trips}


def end_expired() -> None:
    """A trip whose time is over has ended by itself: Redis lets a probe through without being told."""
    over = Trip.objects.filter(ended_at=None, expires_at__lte=timezone.now())
    over.update(ended_at=F("expires_at"), ended_by=ITS_END, is_lifted=True)
