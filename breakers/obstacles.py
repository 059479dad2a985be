"""Which breakers stand in the way of something that is about to be done.

Models are imported late: `breakers.api` is a library too, and works in processes that never load them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from dashboard.redis import RedisError
from dashboard.words import duration

if TYPE_CHECKING:
    from breakers.models import State


@dataclass(frozen=True)
class Obstacle:
    """A breaker that is not closed; `retry_at` is when a probe may go through, None if nobody can tell."""

    name: str
    state: "State"
    now: datetime
    retry_at: datetime | None

    @property
    def sentence(self) -> str:
        if self.state == "half_open":
            return f"The breaker {self.name} is half open: only probes go through."
        if self.retry_at is None:
            return f"The breaker {self.name} is held open until somebody resets it."
        left = (self.retry_at - self.now).total_seconds()
        if left <= 0:
            return f"The breaker {self.name} is open; the next call is a probe."
        return f"The breaker {self.name} is open; the next probe is in {duration(left)}."


def find_obstacles(names: Iterable[str], *, used_by: Iterable[str] = ()) -> list[Obstacle] | None:
    """Of the breakers of these names, and those that these users declared, the ones that are not closed.

    None: Redis does not answer, so nobody knows.
    """
    from breakers.live import read
    from breakers.models import Breaker, State

    declared = Breaker.objects.filter(source=Breaker.OURS, used_by__overlap=list(used_by))
    wanted = sorted({*names, *declared.values_list("name", flat=True)})
    if not wanted:
        return []
    try:
        found = read(wanted)
    except RedisError:
        return None
    return [
        Obstacle(name, live.state, live.now, live.retry_at)
        for name, live in found.items()
        if live.state != State.CLOSED
    ]
