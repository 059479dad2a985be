"""Our breakers as they are in Redis at this moment, for pages; everything here may raise RedisError."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from breakers import scripts
from breakers.copying import from_ms
from breakers.keys import OPEN_INDEX, SEEN_INDEX, breaker_key
from breakers.models import State
from breakers.policy import Policy
from dashboard.redis import get_redis

FIELDS = (
    "gate",
    "failures",
    "left_closed_at",
    "until",
    "successes",
    "probes",
    "held",
    "held_until",
    "short_circuited",
    "last_error",
    "last_error_at",
    "policy",
)
# A page sorts this many open breakers at most; beyond it something else is wrong than a breaker.
MOST_OPEN = 1000


@dataclass(frozen=True)
class Live:
    """One breaker as Redis has it; times are the Redis server's."""

    # One that Redis has not heard of, or has forgotten, is closed.
    is_known: bool
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


def list_open(limit: int) -> tuple[list[tuple[str, datetime]], int, int]:
    """Name and time of leaving closed of those that left it last; how many are not closed; how many there are."""
    execute = get_redis().execute_command
    answer = scripts.list_open.run(execute, 2, OPEN_INDEX, SEEN_INDEX, limit)
    found, open_count, count = json.loads(answer)
    # Lua cannot tell an empty list from an empty object.
    found = found or []
    return [(name, from_ms(at)) for name, at in zip(found[::2], found[1::2], strict=True)], open_count, count


def read(names: Sequence[str]) -> dict[str, Live]:
    """The breakers of these names, in one round trip."""
    keys = [breaker_key(name) for name in names]
    answer = scripts.read.run(get_redis().execute_command, len(keys), *keys, *FIELDS)
    now_ms, *found = json.loads(answer)
    return {
        name: parse(dict(zip(FIELDS, values, strict=True)), now_ms)
        for name, values in zip(names, found, strict=True)
    }


def parse(fields: dict[str, Any], now_ms: int) -> Live:
    policy = read_policy(fields["policy"]) if fields["policy"] else None
    # With a window, failures that have left it are still written there until the next one comes.
    oldest = now_ms - policy.window_seconds * 1000 if policy and policy.window_seconds else 0
    failures = [int(at) for at in (fields["failures"] or "").split(",") if at]
    deadlines = [int(probe.partition(":")[2]) for probe in (fields["probes"] or "").split(",") if probe]
    is_held = bool(fields["held"])
    return Live(
        is_known=any(fields.values()),
        state=to_state(fields["gate"] or ""),
        now=from_ms(now_ms),
        left_closed_at=to_time(fields["left_closed_at"]),
        retry_at=to_time(fields["held_until"] if is_held else fields["until"]),
        is_held=is_held,
        failure_count=sum(at > oldest for at in failures),
        success_count=int(fields["successes"] or 0),
        probe_count=sum(deadline > now_ms for deadline in deadlines),
        short_circuited_count=int(fields["short_circuited"] or 0),
        last_error=fields["last_error"] or "",
        last_error_at=to_time(fields["last_error_at"]),
        policy=policy,
    )


# Thousands of breakers share a few policies.
read_policy = lru_cache(maxsize=256)(Policy.from_json)


def to_state(gate: str) -> State:
    """The gate's word is the state, but for a closed breaker that has failures."""
    word = gate.partition(" ")[0]
    return State(word) if word in State else State.CLOSED


def to_time(ms: str | None) -> datetime | None:
    return from_ms(ms) if ms else None
