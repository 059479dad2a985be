"""Which readers the settings ask for, and the Redis that they read."""

from functools import cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from breakers.foreign.blacklist import BlacklistReader
from breakers.foreign.counters import AIOBREAKER, PYBREAKER
from breakers.foreign.reader import Client, Reader
from dashboard.redis import make_client


@cache
def list_readers() -> dict[str, Reader]:
    """The readers by their source; a word that makes no sense stops the start."""
    readers = [make_reader(word) for word in settings.FOREIGN_BREAKERS]
    return {reader.source: reader for reader in readers}


def make_reader(word: str) -> Reader:
    kind, _, pattern = word.partition("=")
    if word in ("pybreaker", "aiobreaker"):
        return PYBREAKER if word == "pybreaker" else AIOBREAKER
    if kind == "blacklist" and pattern and len(word) <= 100:
        return BlacklistReader(pattern)
    raise ImproperlyConfigured(
        f"REDRIVE_FOREIGN_BREAKERS has {word!r}; write pybreaker, aiobreaker or blacklist=PATTERN."
    )


@cache
def get_foreign_redis() -> Client:
    """Keys of others may hold any bytes; what is not text becomes a replacement character."""
    return make_client(settings.FOREIGN_BREAKERS_URL, encoding_errors="replace")
