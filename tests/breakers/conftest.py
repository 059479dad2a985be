from collections.abc import Iterator

import pytest

from breakers import api
from breakers.breaker import Breaker
from breakers.contact import Contact
from breakers.policy import Policy
from tests.breakers.valkey import PrivateValkey

# A busy machine may keep a server waiting for longer than a call would; only tests of the budget use the real one.
PATIENT = 10.0
NEVER_CACHED = Policy(failure_threshold=2, open_seconds=60, cache_seconds=0)


@pytest.fixture(autouse=True)
def _patient_contact(monkeypatch: pytest.MonkeyPatch, settings) -> Iterator[None]:
    """A fresh contact for every test, and no breaker of the test before."""
    contact = Contact(settings.REDIS_URL, budget_seconds=PATIENT)
    monkeypatch.setattr(api, "get_contact", lambda: contact)
    api.get_breaker.cache_clear()
    yield
    api.get_breaker.cache_clear()
    contact.redis.close()


@pytest.fixture
def valkey() -> Iterator[PrivateValkey]:
    server = PrivateValkey()
    yield server
    server.close()


def make_breaker(
    server: PrivateValkey, name: str = "api", policy: Policy = NEVER_CACHED, **options
) -> Breaker:
    """A breaker on a server of the test's own, with the budget that calls really have."""
    return Breaker(name, policy, Contact(server.url), counts=lambda error: True, **options)


def fail(breaker: Breaker, error: Exception | None = None) -> None:
    """A call through the breaker that fails."""
    with pytest.raises(type(error or RuntimeError())), breaker.call():
        raise error or RuntimeError("no")


def open_breaker(name: str = "orders-api", policy: Policy = NEVER_CACHED, **options) -> Breaker:
    """A breaker of the console's own Redis, opened by failures."""
    breaker = api.get_breaker(name, policy, **options)
    for _ in range(policy.failure_threshold):
        fail(breaker, ConnectionError("refused"))
    return breaker
