"""Our breakers as they are in Redis at this moment, for pages; everything here may raise RedisError."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from breakers.copying import USER, from_ms
from breakers.keys import OPEN_INDEX, breaker_key
from breakers.models import State
from breakers.policy import Policy
from dashboard.redis import get_redis

# A page sorts this many open breakers at most; beyond it something else is wrong than a breaker.
MOST_OPEN = 1000


@dataclass(frozen=True)
class Live:
    """One breaker as Redis has it; times are the Redis server's."""

    state: State
    now: datetime
    left_closed_at: datetime | None
    # When a probe may go through; None: it is not open, or held without an end.
    retry_at: datetime | None
    is_held: bool
    failure_count: int
    success_count: int
    probe_count: int
    short_circuited_count: int
    last_error: str
    last_error_at: datetime | None
    # None: announced by a version that this one does not understand, or not at all.
    policy: Policy | None
    used_by: list[str]


def list_open() -> list[tuple[str, datetime]]:
    """Name and time of leaving closed of every breaker that is not closed, newest first, without looking at others."""
    redis: Any = get_redis()
    found = redis.zrevrange(OPEN_INDEX, 0, MOST_OPEN - 1, withscores=True)
    return [(name, from_ms(score)) for name, score in found]


def read(names: Sequence[str]) -> dict[str, Live]:
    """The breakers of these names that Redis knows, in one round trip."""
    pipeline = get_redis().pipeline(transaction=False)
    pipeline.time()
    for name in names:
        pipeline.hgetall(breaker_key(name))
    (seconds, microseconds), *found = pipeline.execute()
    now_ms = seconds * 1000 + microseconds // 1000
    return {name: parse(fields, now_ms) for name, fields in zip(names, found, strict=True) if fields}


def parse(fields: dict[str, str], now_ms: int) -> Live:
    policy = Policy.from_json(fields["policy"]) if "policy" in fields else None
    # With a window, failures that have left it are still written there until the next one comes.
    oldest = now_ms - policy.window_seconds * 1000 if policy and policy.window_seconds else 0
    failures = [int(at) for at in fields.get("failures", "").split(",") if at]
    deadlines = [int(probe.partition(":")[2]) for probe in fields.get("probes", "").split(",") if probe]
    is_held = bool(fields.get("held"))
    retry = fields.get("held_until") if is_held else fields.get("until")
    return Live(
        state=to_state(fields.get("gate", "")),
        now=from_ms(now_ms),
        left_closed_at=to_time(fields.get("left_closed_at")),
        retry_at=to_time(retry),
        is_held=is_held,
        failure_count=sum(at > oldest for at in failures),
        success_count=int(fields.get("successes", 0)),
        probe_count=sum(deadline > now_ms for deadline in deadlines),
        short_circuited_count=int(fields.get("short_circuited", 0)),
        last_error=fields.get("last_error", ""),
        last_error_at=to_time(fields.get("last_error_at")),
        policy=policy,
        used_by=sorted(field.removeprefix(USER) for field in fields if field.startswith(USER)),
    )


def to_state(gate: str) -> State:
    """The gate's word is the state, but for a closed breaker that has failures."""
    word = gate.partition(" ")[0]
    return State(word) if word in State else State.CLOSED


def to_time(ms: str | None) -> datetime | None:
    return from_ms(ms) if ms else None
