"""From Redis to Postgres, every few seconds: transitions, which breakers there are, and what a flush made untrue.

Each step keeps its place in a `Reading` in the same transaction as what it copied; one that dies half-way is repeated.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from breakers.keys import SEEN_INDEX, TRANSITIONS, breaker_key
from breakers.models import Breaker, Reading, State, Transition
from dashboard.redis import get_redis

BATCH = 1000
# Prefix of the hash's fields that name who depends on the breaker; the value is when they last said so.
USER = "user:"
# Who depends on it says so every hour while calling; who has not for this long depends on it no more.
USER_FOR = timedelta(days=7)


def copy_transitions() -> None:
    """Copy what the stream has that Postgres has not; an entry copied twice is one row."""
    place = Reading.objects.get_or_create(place=Reading.TRANSITIONS)[0]
    while True:
        entries: Any = get_redis().xrange(TRANSITIONS, min=f"({place.cursor}", count=BATCH)
        if not entries:
            return
        with transaction.atomic():
            save_transitions(entries)
            place.cursor = entries[-1][0]
            place.save()


def save_transitions(entries: list[tuple[str, dict[str, str]]]) -> None:
    breakers = ensure_breakers({fields["name"] for _, fields in entries})
    rows = []
    for stream_id, fields in entries:
        breaker = breakers[fields["name"]]
        at = from_ms(fields["at"])
        rows.append(
            Transition(
                breaker=breaker,
                at=at,
                from_state=fields["from"],
                to_state=fields["to"],
                cause=fields["cause"],
                error=fields["error"],
                stream_id=stream_id,
            )
        )
        apply(breaker, State(fields["to"]), at, fields["error"])
    Transition.objects.bulk_create(rows, ignore_conflicts=True)
    Breaker.objects.bulk_update(breakers.values(), ["state", "changed_at", "left_closed_at", "last_error"])


def apply(breaker: Breaker, state: State, at: datetime, error: str = "") -> None:
    """Note on the unsaved row that the breaker is now in this state."""
    if state == State.CLOSED:
        breaker.left_closed_at = None
    elif breaker.left_closed_at is None:
        breaker.left_closed_at = at
    breaker.state, breaker.changed_at = state, at
    breaker.last_error = error or breaker.last_error


def ensure_breakers(names: set[str]) -> dict[str, Breaker]:
    """The rows of these names, made where they are missing, locked in one order so that two writers cannot deadlock."""
    Breaker.objects.bulk_create([Breaker(name=name) for name in sorted(names)], ignore_conflicts=True)
    rows = Breaker.objects.filter(source=Breaker.OURS, name__in=names).order_by("name").select_for_update()
    return {row.name: row for row in rows}


def copy_directory() -> None:
    """Take over the policy and the users of every breaker that was heard of since the last time.

    It is the last step, so its reading tells how old all is that Postgres knows of ours.
    """
    place = Reading.objects.get_or_create(place=Breaker.OURS)[0]
    redis: Any = get_redis()
    seconds, microseconds = redis.time()
    now = seconds * 1000 + microseconds // 1000
    # A server that took over may have a clock that is behind.
    place.cursor = str(min(int(place.cursor), now))
    while True:
        began = place.cursor
        # Inclusive: two breakers may have been heard of in the same ms, though never a whole batch.
        heard = redis.zrangebyscore(SEEN_INDEX, began, "+inf", 0, BATCH, withscores=True)
        pipeline = redis.pipeline(transaction=False)
        for name, _ in heard:
            pipeline.hgetall(breaker_key(name))
        save_directory({name: fields for (name, _), fields in zip(heard, pipeline.execute(), strict=True)})
        # Breakers that are held open stand at the end of their hold: they are read every time and are nobody's place.
        scores = [int(score) for _, score in heard if score <= now]
        if scores:
            place.cursor = str(scores[-1])
        place.read_at = timezone.now()
        place.save()
        if len(heard) < BATCH or place.cursor == began:
            return


def save_directory(found: dict[str, dict[str, str]]) -> None:
    now = timezone.now()
    Breaker.objects.bulk_create(
        [
            Breaker(
                name=name,
                policy=json.loads(fields.get("policy") or "{}"),
                used_by=list_users(fields, now - USER_FOR),
                seen_at=now,
            )
            for name, fields in sorted(found.items())
        ],
        update_conflicts=True,
        unique_fields=["source", "name"],
        update_fields=["policy", "used_by", "seen_at"],
    )


def list_users(fields: dict[str, str], since: datetime) -> list[str]:
    said = {name: at for name, at in fields.items() if name.startswith(USER)}
    return sorted(name.removeprefix(USER) for name, at in said.items() if from_ms(at) > since)


def close_forgotten() -> None:
    """A breaker that is closed in Redis, with no transition left to tell so, is closed, whatever Postgres remembers."""
    rows = list(Breaker.objects.filter(source=Breaker.OURS).exclude(state=State.CLOSED))
    redis: Any = get_redis()
    pipeline = redis.pipeline(transaction=False)
    for row in rows:
        pipeline.hget(breaker_key(row.name), "left_closed_at")
    # In this order: what has changed since it was read is among those to be copied.
    times, cursor = pipeline.execute(), Reading.objects.get(place=Reading.TRANSITIONS).cursor
    untold = {fields["name"] for _, fields in redis.xrange(TRANSITIONS, min=f"({cursor}", count=BATCH)}
    now = timezone.now()
    for row, left_closed_at in zip(rows, times, strict=True):
        if not left_closed_at and row.name not in untold:
            note_transition(row, State.CLOSED, now, "forgotten by Redis")


def note_transition(row: Breaker, state: State, at: datetime, cause: str) -> None:
    """Write a change that was seen from outside; if another process saw it too, one of them writes it."""
    with transaction.atomic():
        known = Breaker.objects.select_for_update().get(pk=row.pk)
        if known.state != state:
            Transition.objects.create(
                breaker=known, at=at, from_state=known.state, to_state=state, cause=cause
            )
            apply(known, state, at)
            known.save(update_fields=["state", "changed_at", "left_closed_at", "last_error"])


def from_ms(ms: str | float) -> datetime:
    return datetime.fromtimestamp(int(ms) / 1000, UTC)
