import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

from breakers import api
from breakers.breaker import Breaker
from breakers.contact import Contact
from breakers.policy import Policy
from tests.breakers.peers import PEERS, WORDS, Peer
from tests.breakers.valkey import PrivateValkey
from tests.wait import PATIENT

NEVER_CACHED = Policy(failure_threshold=2, open_seconds=60, cache_seconds=0)


@pytest.fixture
def valkey() -> Iterator[PrivateValkey]:
    server = PrivateValkey()
    yield server
    server.close()


@pytest.fixture
def foreign(settings: Any, valkey: PrivateValkey) -> Iterator[redis.Redis]:
    """Another Redis than the console's, in which others keep their breakers."""
    # The processes of test_crowds import this file without Django.
    from breakers.foreign import registry

    settings.FOREIGN_BREAKERS, settings.FOREIGN_BREAKERS_URL = WORDS, valkey.url
    caches = registry.list_readers, registry.get_foreign_redis
    for cached in caches:
        cached.cache_clear()
    yield valkey.client()
    registry.get_foreign_redis().close()
    for cached in caches:
        cached.cache_clear()


@pytest.fixture(params=PEERS, ids=lambda peer: peer.__name__)
def peer(request: pytest.FixtureRequest, foreign: redis.Redis) -> Peer:
    return request.param(foreign)


def make_breaker(
    server: PrivateValkey,
    name: str = "api",
    policy: Policy = NEVER_CACHED,
    *,
    budget_seconds: float = PATIENT,
    **options,
) -> Breaker:
    """A breaker on a server of the test's own."""
    contact = Contact(server.url, budget_seconds=budget_seconds)
    return Breaker(name, policy, contact, counts=lambda error: True, **options)


def fail(
    breaker: Breaker, error: Exception | None = None, during: Callable[[], object] | None = None
) -> None:
    """A call through the breaker that fails; `during` happens in the middle of it."""
    error = error or RuntimeError("no")
    with contextlib.suppress(type(error)), breaker.call():
        if during:
            during()
        raise error


def open_breaker(name: str = "orders-api", policy: Policy = NEVER_CACHED, **options) -> Breaker:
    """A breaker of the console's own Redis, opened by failures."""
    breaker = api.get_breaker(name, policy, **options)
    for _ in range(policy.failure_threshold):
        fail(breaker, ConnectionError("refused"))
    return breaker
