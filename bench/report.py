"""How a benchmark ends: one JSON object on the last line, and on standard error what fell short."""

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bar:
    """A ratio and its limit; `least` or `most` says which side is good, neither that it is only a figure."""

    value: float
    least: float | None = None
    most: float | None = None

    @property
    def shortfall(self) -> str:
        if self.least is not None and self.value < self.least:
            return f"{self.value:.3g}, wanted at least {self.least:g}"
        if self.most is not None and self.value > self.most:
            return f"{self.value:.3g}, wanted at most {self.most:g}"
        return ""


def report(bench: str, bars: dict[str, Bar], **figures: Any) -> None:
    for name, bar in bars.items():
        if bar.shortfall:
            print(f"{bench}: {name} is {bar.shortfall}", file=sys.stderr)
    rounded = {name: float(f"{bar.value:.4g}") for name, bar in bars.items()}
    print(json.dumps({"bench": bench, "bars": rounded, **figures}))


def median_seconds(call: Callable[[], object], *, times: int = 15, warm_up: int = 3) -> float:
    """The median of several timed calls, after some that are not counted."""
    for _ in range(warm_up):
        call()
    durations = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        durations.append(time.perf_counter() - began)
    return statistics.median(durations)


def in_turns(*calls: Callable[[], object], rounds: int = 15) -> list[float]:
    """The median of each call, taken in turns: a busy machine then slows all of them alike."""
    durations: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, spent in zip(calls, durations, strict=True):
            spent.append(median_seconds(call, times=1, warm_up=1))
    return [statistics.median(spent) for spent in durations]
