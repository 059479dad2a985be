"""Where the workers page, /readyz and the overview get their figures."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timesince import timesince

from dashboard.attention import Need
from dashboard.models import Heartbeat
from dashboard.redis import RedisError, get_redis
from dashboard.workers.heartbeats import SILENT_AFTER_SECONDS

QUEUES = ("runs", "housekeeping")
Kind = Heartbeat.Kind


@dataclass(frozen=True)
class Queue:
    name: str
    depth: int


@dataclass(frozen=True)
class RedisState:
    """Whether Redis answers now; if not, what it says, and when it last did (None: never seen)."""

    error: str
    last_answer_at: datetime | None
    queues: list[Queue]


def list_heartbeats(*kinds: str) -> list[Heartbeat]:
    return list(Heartbeat.objects.filter(kind__in=kinds).order_by("kind", "name")[:500])


def is_silent(heartbeat: Heartbeat) -> bool:
    return heartbeat.seen_at < timezone.now() - timedelta(seconds=SILENT_AFTER_SECONDS)


def has_live(kind: str) -> bool:
    return any(not is_silent(heartbeat) for heartbeat in list_heartbeats(kind))


def get_redis_state() -> RedisState:
    """Ask Redis for the queues' depths in one round trip; says so within a second if it does not answer."""
    try:
        pipeline = get_redis().pipeline(transaction=False)
        for name in QUEUES:
            pipeline.llen(name)
        depths = pipeline.execute()
    except RedisError as error:
        seen = Heartbeat.objects.filter(kind=Kind.REDIS).first()
        return RedisState(str(error) or type(error).__name__, seen.seen_at if seen else None, [])
    return RedisState("", timezone.now(), [Queue(*pair) for pair in zip(QUEUES, depths, strict=True)])


def find_missing() -> Iterator[Need]:
    """Processes whose absence means that nothing gets done; read from Postgres alone, so it is cheap on every page."""
    heartbeats = list_heartbeats(Kind.WORKER, Kind.BEAT, Kind.REDIS)
    for kind, headline, effect in (
        (Kind.WORKER, "No worker is running", "Runs stay pending until one starts; nothing is lost."),
        (Kind.BEAT, "Beat is silent", "Lost work is not found again and nothing is checked on time."),
        (Kind.REDIS, "Redis does not answer", "Runs can be started and stay pending; breakers are unknown."),
    ):
        seen = [heartbeat for heartbeat in heartbeats if heartbeat.kind == kind]
        if any(not is_silent(heartbeat) for heartbeat in seen):
            continue
        if kind == Kind.REDIS and not any(h.kind == Kind.BEAT and not is_silent(h) for h in heartbeats):
            # Beat is who asks Redis: while it is silent this is not known, and silence about it is said above.
            continue
        yield Need(headline, f"{describe_silence(seen)} {effect}", reverse("workers"), "See the workers")


def describe_silence(seen: list[Heartbeat]) -> str:
    if not seen:
        return "None has been seen yet."
    last = max(heartbeat.seen_at for heartbeat in seen)
    return f"Last seen {timesince(last)} ago, at {date_format(timezone.localtime(last), 'H:i:s')}."
