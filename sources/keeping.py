"""Who keeps the checkpoints that the sync reads: the section that shows them, which says so when it starts."""

from collections.abc import Callable
from typing import Any, NamedTuple

from sources.checkpoints.contract import Checkpoints


class Keeper(NamedTuple):
    """`look` asks the source, `keep` writes down what it found in the transaction of the look."""

    look: Callable[[str, Checkpoints], Any]
    keep: Callable[[str, Any], None]


_keepers: list[Keeper] = []


def keep_checkpoints(look: Callable[[str, Checkpoints], Any], keep: Callable[[str, Any], None]) -> None:
    """Have these called whenever it is time to read a source's checkpoints."""
    _keepers.append(Keeper(look, keep))


def list_keepers() -> list[Keeper]:
    return list(_keepers)
