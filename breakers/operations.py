"""What people do with breakers."""

import socket
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone
from redis.exceptions import ResponseError

from breakers import scripts, trips
from breakers.copying import note_transition
from breakers.foreign.registry import get_foreign_redis, list_readers
from breakers.models import Breaker, State, Trip
from dashboard import audit
from dashboard.redis import RedisError, describe_error, get_redis
from dashboard.words import clause

# Of a connection that was not made, so that nothing was asked.
NEVER_REACHED = (ConnectionRefusedError, FileNotFoundError, socket.gaierror)


class BreakerError(Exception):
    """Why it was not done, for the person who asked."""


def trip_breaker(name: str, *, actor: audit.Actor, reason: str, hold_for: timedelta | None = None) -> bool:
    """Hold the breaker open; False if Redis is away, and the trip takes effect as soon as it is back."""
    trips.end_expired()
    with audit.action("breaker.trip", actor=actor, subject=name, reason=reason) as entry:
        breaker, _ = Breaker.objects.get_or_create(source=Breaker.OURS, name=name)
        expires_at = timezone.now() + hold_for if hold_for else None
        entry.details = {"until": expires_at.isoformat() if expires_at else "it is reset"}
        try:
            with transaction.atomic():
                trip = Trip.objects.create(
                    breaker=breaker, actor=str(actor), reason=reason, expires_at=expires_at
                )
        except IntegrityError:
            holder = Trip.objects.get(breaker=breaker, ended_at=None)
            raise BreakerError(
                f"{name} is held open already, by {holder.actor}: {clause(holder.reason)}."
            ) from None
    try:
        trips.hold(trip)
    except RedisError:
        return False
    return True


def reset_breaker(name: str, *, actor: audit.Actor, reason: str) -> bool:
    """Close the breaker; False if Redis is away, and the end of the trip takes effect as soon as it is back."""
    trips.end_expired()
    with audit.action("breaker.reset", actor=actor, subject=name, reason=reason):
        trip = Trip.objects.select_for_update().filter(breaker__name=name, ended_at=None).first()
        if trip:
            trip.ended_at, trip.ended_by = timezone.now(), str(actor)
            trip.save(update_fields=["ended_at", "ended_by"])
        else:
            close_in_redis(name)
    if trip:
        try:
            trips.lift(trip)
        except RedisError:
            return False
    return True


def close_in_redis(name: str) -> None:
    """A breaker that opened by itself is known to Redis alone, so without Redis it cannot be reset."""
    try:
        is_changed = scripts.reset(get_redis().execute_command, name, None, "")
    except RedisError as error:
        raise BreakerError(describe_failure("Redis", error)) from error
    if not is_changed:
        raise BreakerError(f"{name} is closed already. Nothing was changed.")


def describe_failure(whose: str, error: RedisError) -> str:
    """What became of a change: one that was sent and not answered may have been made."""
    why = describe_error(error)
    if isinstance(error, ResponseError):
        return f"{whose} refused: {why}. Nothing was changed."
    if isinstance(error.__context__, NEVER_REACHED):
        return f"{whose} does not answer ({why}). Nothing was changed."
    return f"{whose} did not answer ({why}). Whether it was changed is unknown; this page will show it."


def reset_foreign(breaker: Breaker, *, actor: audit.Actor, reason: str) -> None:
    """Close another library's breaker by writing its keys as the library would."""
    with audit.action("breaker.reset", actor=actor, subject=breaker, reason=reason):
        reader = list_readers().get(breaker.source)
        if not reader:
            raise BreakerError(f"{breaker.source} is no longer read here. Nothing was changed.")
        try:
            is_changed = reader.reset(get_foreign_redis(), breaker.name)
        except RedisError as error:
            raise BreakerError(describe_failure("Its Redis", error)) from error
        if not is_changed:
            raise BreakerError(f"{breaker.name} is closed already. Nothing was changed.")
        # The next scan would find it; until then the page would still say that it is open.
        note_transition(breaker, State.CLOSED, timezone.now(), "reset")
        Breaker.objects.filter(pk=breaker.pk, failure_count__gt=0).update(failure_count=0)
