"""The breakers of sellers' endpoints."""

from functools import cache

from django.conf import settings

from breakers.api import Breaker, get_breaker
from breakers.contact import Contact
from breakers.counting import make_counts
from breakers.profiles import get_profile
from demo import clock
from demo.endpoints import EndpointDown

PROFILE, USER = "webhook", "webhooks"
# Nobody waits for the past, so it need not go on without Redis on a machine that is busy with the start.
PATIENCE_SECONDS = 4.0


def get_endpoint_breaker(endpoint: str) -> Breaker:
    """The breaker as any code gets it; while the past is made, one that lives by the moved clock."""
    if clock.find_moved():
        return make_moved_breaker(endpoint)
    return get_breaker(endpoint, PROFILE, counts=EndpointDown, used_by=USER)


@cache
def make_moved_breaker(endpoint: str) -> Breaker:
    policy = get_profile(PROFILE)
    return Breaker(
        endpoint,
        policy,
        Contact(settings.REDIS_URL, budget_seconds=PATIENCE_SECONDS),
        counts=make_counts((EndpointDown,), policy.ignored_statuses),
        used_by=USER,
        clock=lambda: clock.now().timestamp(),
    )
