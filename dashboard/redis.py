"""The console's connection to Redis: short timeouts, because a page waits for it."""

from functools import cache

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

RedisError = redis.RedisError

# A page may wait this long for Redis and no longer; see "Style" in CONTRIBUTING.
TIMEOUT_SECONDS = 1.0


def describe_error(error: Exception) -> str:
    """What it says, to be put into a sentence: without an end of its own."""
    return str(error).rstrip(".") or type(error).__name__


@cache
def get_redis() -> redis.Redis:
    """One pool a process."""
    return make_client(settings.REDIS_URL)


def make_client(url: str, *, encoding_errors: str = "strict") -> redis.Redis:
    """A client that reads text; no retries, since a hung server would only hang again."""
    return redis.Redis.from_url(
        url,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
        decode_responses=True,
        encoding_errors=encoding_errors,
    )
