"""Users of other libraries' breakers, as they really use them."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

import aiobreaker
import pybreaker
import pytest
import redis
from aiobreaker.storage.redis import CircuitRedisStorage as AioStorage

WORDS = ["pybreaker", "aiobreaker", "blacklist=webhook:blacklist:*"]


class Peer(Protocol):
    """A user of another library."""

    name: str
    source: str

    def open(self) -> None: ...
    def goes_through(self) -> bool: ...


class PybreakerPeer:
    name, source = "payments", "pybreaker"

    def __init__(self, client: redis.Redis) -> None:
        storage = pybreaker.CircuitRedisStorage(pybreaker.STATE_CLOSED, client, namespace=self.name)
        self.breaker = pybreaker.CircuitBreaker(fail_max=2, reset_timeout=60, state_storage=storage)

    def open(self) -> None:
        for _ in range(2):
            with pytest.raises((ConnectionError, pybreaker.CircuitBreakerError)):
                self.breaker.call(refuse)

    def goes_through(self) -> bool:
        try:
            return bool(self.breaker.call(lambda: True))
        except pybreaker.CircuitBreakerError:
            return False


class AiobreakerPeer:
    name, source = "ledger", "aiobreaker"

    def __init__(self, client: redis.Redis) -> None:
        storage = AioStorage(aiobreaker.CircuitBreakerState.CLOSED, client, namespace=self.name)
        self.breaker = aiobreaker.CircuitBreaker(
            fail_max=2, timeout_duration=timedelta(minutes=1), state_storage=storage
        )

    def open(self) -> None:
        async def refuse_async() -> None:
            refuse()

        for _ in range(2):
            with pytest.raises((ConnectionError, aiobreaker.CircuitBreakerError)):
                asyncio.run(self.breaker.call_async(refuse_async))

    def goes_through(self) -> bool:
        async def answer() -> bool:
            return True

        try:
            return asyncio.run(self.breaker.call_async(answer))
        except aiobreaker.CircuitBreakerError:
            return False


class BlacklistPeer:
    name, source = "webhook:blacklist:https://shop.example/hook", "blacklist=webhook:blacklist:*"

    def __init__(self, client: redis.Redis) -> None:
        self.client = client

    def open(self) -> None:
        self.client.set(self.name, "5 failures", ex=300)

    def goes_through(self) -> bool:
        return not self.client.exists(self.name)


def refuse() -> None:
    raise ConnectionError("refused")


PEERS: list[Callable[[redis.Redis], Peer]] = [PybreakerPeer, AiobreakerPeer, BlacklistPeer]
