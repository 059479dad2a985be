"""What other sections and user code may import.

from breakers.api import BreakerOpen, get_breaker

with get_breaker("orders-api", "webhook").call() as call:
    requests.post(url, json=event, timeout=call.timeout_seconds)
"""

from collections.abc import Callable
from functools import cache, lru_cache

from django.conf import settings

from breakers.breaker import Breaker
from breakers.contact import Contact
from breakers.counting import make_counts
from breakers.obstacles import Obstacle, find_obstacles
from breakers.permits import BreakerOpen
from breakers.policy import Policy
from breakers.profiles import get_profile

__all__ = ["Breaker", "BreakerOpen", "Obstacle", "Policy", "find_obstacles", "get_breaker", "get_profile"]

# A breaker for each of a great many endpoints; one that falls out loses its local cache and nothing else.
MOST_BREAKERS = 20_000


@lru_cache(maxsize=MOST_BREAKERS)
def get_breaker(
    name: str,
    profile: str | Policy = "default",
    *,
    counts: type[Exception] | tuple[type[Exception], ...] = Exception,
    used_by: str = "",
    clock: Callable[[], float] | None = None,
) -> Breaker:
    """The breaker of this name, the same object for the same arguments.

    `counts` are the exceptions that say the dependency is in trouble, `used_by` names who depends on it, for the page.
    """
    policy = profile if isinstance(profile, Policy) else get_profile(profile)
    types = counts if isinstance(counts, tuple) else (counts,)
    return Breaker(
        name,
        policy,
        get_contact(),
        counts=make_counts(types, policy.ignored_statuses),
        used_by=used_by,
        clock=clock,
    )


@cache
def get_contact() -> Contact:
    """One pool a process."""
    return Contact(settings.REDIS_URL)
