"""Where the workers page, /readyz and the overview get their figures."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from dashboard.attention import Need
from dashboard.models import Heartbeat
from dashboard.redis import RedisError, describe_error, get_redis
from dashboard.words import clock, say_ago
from dashboard.workers.heartbeats import SILENT_AFTER_SECONDS

# Each queue, and what happens when nobody takes from it.
QUEUES = {
    "replays": "Replays stay pending until one starts; nothing is lost.",
    "rebuilds": "Rebuilds and resets stay pending until one starts; nothing is lost.",
    "runs": "Imports and bulk changes stay pending until one starts; nothing is lost.",
    "housekeeping": "Lost work is not found again, and figures stand still.",
}
# Only where redrive.toml names a source.
SOURCES_QUEUE = {"sources": "Nothing new is read from the sources, and nothing is written there."}
Kind = Heartbeat.Kind


@dataclass(frozen=True)
class Queue:
    name: str
    depth: int


@dataclass(frozen=True)
class RedisState:
    """Whether Redis answers now; if not, what it says, and no queues."""

    error: str
    queues: list[Queue]


def list_queues() -> dict[str, str]:
    return QUEUES | (SOURCES_QUEUE if settings.SOURCES else {})


def list_heartbeats(*kinds: str) -> list[Heartbeat]:
    return list(Heartbeat.objects.filter(kind__in=kinds).order_by("kind", "name")[:500])


def is_silent(heartbeat: Heartbeat) -> bool:
    return heartbeat.seen_at < timezone.now() - timedelta(seconds=SILENT_AFTER_SECONDS)


def has_live_beat() -> bool:
    return any(not is_silent(heartbeat) for heartbeat in list_heartbeats(Kind.BEAT))


def find_takers(heartbeats: list[Heartbeat]) -> dict[str, list[str]]:
    """The living workers that take from each queue."""
    alive = [beat for beat in heartbeats if beat.kind == Kind.WORKER and not is_silent(beat)]
    return {
        queue: [beat.name for beat in alive if queue in beat.facts.get("queues", [])]
        for queue in list_queues()
    }


def list_idle_queues(heartbeats: list[Heartbeat]) -> list[str]:
    return [queue for queue, takers in find_takers(heartbeats).items() if not takers]


def list_starts(heartbeats: list[Heartbeat]) -> list[str]:
    """The commands that start what is missing; none where `up` starts it, and starts it again."""
    if settings.EMBEDDED:
        return []
    beats = [heartbeat for heartbeat in heartbeats if heartbeat.kind == Kind.BEAT]
    return [
        *(f"celery -A dashboard.celery worker -Q {queue}" for queue in list_idle_queues(heartbeats)),
        *(["celery -A dashboard.celery beat"] if all(map(is_silent, beats)) else []),
    ]


def get_redis_state() -> RedisState:
    """Ask Redis for the queues' depths in one round trip; says so within a second if it does not answer."""
    try:
        pipeline = get_redis().pipeline(transaction=False)
        for name in list_queues():
            pipeline.llen(name)
        depths = pipeline.execute()
    except RedisError as error:
        return RedisState(describe_error(error), [])
    return RedisState("", [Queue(*pair) for pair in zip(list_queues(), depths, strict=True)])


def find_missing(redis_error: str | None = None) -> Iterator[Need]:
    """What must run for anything to get done; read from Postgres alone, so it is cheap on every page.

    `redis_error` is what Redis said to a page that has just asked it, "" if it answered; None: nobody has asked.
    """
    heartbeats = list_heartbeats(Kind.WORKER, Kind.BEAT, Kind.REDIS)
    by_kind = {kind: [h for h in heartbeats if h.kind == kind] for kind in Kind.values}
    url, link = reverse("workers"), "See the workers"
    is_beat_silent = all(is_silent(heartbeat) for heartbeat in by_kind[Kind.BEAT])
    is_redis_away = bool(redis_error)
    if redis_error is None:
        # Beat is who asks Redis: while it is silent, whether Redis answers is not known.
        is_redis_away = not is_beat_silent and all(is_silent(heartbeat) for heartbeat in by_kind[Kind.REDIS])
    if is_redis_away:
        effect = "Runs can be asked for and stay pending; breakers are unknown."
        sentence = f"{describe_silence(by_kind[Kind.REDIS], 'It has not been seen yet.')} {effect}"
        yield Need("Redis does not answer", sentence, url, link, is_away=True)
    idle = list_idle_queues(heartbeats)
    if len(idle) == len(list_queues()):
        effect = (
            "Whatever is asked for stays pending until one starts, and figures stand still; nothing is lost."
        )
        yield Need("No worker runs", f"{describe_silence(by_kind[Kind.WORKER])} {effect}", url, link)
        idle = []
    for queue in idle:
        seen = [h for h in by_kind[Kind.WORKER] if queue in h.facts.get("queues", [])]
        yield Need(
            f"No worker takes from queue “{queue}”",
            f"{describe_silence(seen, 'None that does has been seen yet.')} {list_queues()[queue]}",
            url,
            link,
        )
    if is_beat_silent:
        effect = "Lost work is not found again, and nothing is checked on time."
        yield Need(
            "Beat is silent",
            f"{describe_silence(by_kind[Kind.BEAT], 'It has not been seen yet.')} {effect}",
            url,
            link,
        )


def describe_silence(seen: list[Heartbeat], never: str = "None has been seen yet.") -> str:
    if not seen:
        return never
    last = max(heartbeat.seen_at for heartbeat in seen)
    return f"Last seen {say_ago(last)}, at {clock(last)}."
