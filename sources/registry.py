"""Makes the sources that redrive.toml names."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from dashboard.config import refuse_unknown
from sources.base import Source


@dataclass(frozen=True)
class Kind:
    """A kind of source: the keys that its table may have, and who makes it of them."""

    keys: frozenset[str]
    make: Callable[..., Source]


_kinds: dict[str, Kind] = {}


def register(name: str, keys: frozenset[str], make: Callable[..., Source]) -> None:
    """Add a kind; `make` gets the source's name and the keys' values, and raises ImproperlyConfigured."""
    _kinds[name] = Kind(keys, make)


def list_sources() -> list[Source]:
    """All that are configured, by name; one that cannot work is refused with the reason."""
    return [get_source(name) for name in sorted(settings.SOURCES)]


def get_source(name: str) -> Source:
    """The source; KeyError if none is configured under this name."""
    return make_source(name, json.dumps(settings.SOURCES[name], sort_keys=True))


def find_source(name: str) -> Source | None:
    """None: none is configured under this name, or no longer."""
    return get_source(name) if name in settings.SOURCES else None


@lru_cache(maxsize=100)
def make_source(name: str, given: str) -> Source:
    values: dict[str, Any] = json.loads(given)
    where = f"[sources.{name}]"
    kind = values.pop("kind", "")
    if kind not in _kinds:
        raise ImproperlyConfigured(f"{where} is of kind {kind!r}; there are {', '.join(sorted(_kinds))}.")
    refuse_unknown(values, _kinds[kind].keys, where)
    try:
        return _kinds[kind].make(name, **values)
    except TypeError as error:
        raise ImproperlyConfigured(f"{where}: {error}.") from None
