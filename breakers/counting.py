"""Which exceptions say that the dependency is in trouble."""

from collections.abc import Callable
from typing import Any

Counts = Callable[[Exception], bool]


def make_counts(types: tuple[type[Exception], ...], ignored_statuses: tuple[int, ...]) -> Counts:
    """An exception counts if it is of one of the types and carries none of the statuses."""

    def counts(error: Exception) -> bool:
        return isinstance(error, types) and get_status(error) not in ignored_statuses

    return counts


def get_status(error: Exception) -> int | None:
    """The HTTP status that an exception carries, wherever its library puts it; None if it has none."""
    holders: tuple[Any, ...] = (error, getattr(error, "response", None))
    for holder in holders:
        for attribute in ("status_code", "code", "status"):
            value = getattr(holder, attribute, None)
            if isinstance(value, int):
                return value
    return None
