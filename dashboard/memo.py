"""Remembering an answer for a moment: what every page shows need not be asked for on every request."""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

_memos: list["Memo[object]"] = []


class Memo(Generic[T]):
    """A function without arguments whose answer this process keeps for some seconds."""

    def __init__(self, ask: Callable[[], T], seconds: float) -> None:
        self.ask = ask
        self.seconds = seconds
        self._kept: tuple[float, T] | None = None
        _memos.append(self)  # type: ignore[arg-type]

    def __call__(self) -> T:
        # Two threads may both ask; each keeps a whole answer, so neither sees half of one.
        kept = self._kept
        if kept is None or time.monotonic() > kept[0]:
            kept = self._kept = (time.monotonic() + self.seconds, self.ask())
        return kept[1]

    def forget(self) -> None:
        self._kept = None


def forget_all() -> None:
    """For tests, which change the world faster than a person looks."""
    for memo in _memos:
        memo.forget()


def forget_always() -> None:
    """For benchmarks, which want every answer to be asked for."""
    for memo in _memos:
        memo.seconds = 0
