"""The last day of a breaker as a strip, drawn on the server."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from breakers.history import Outage
from breakers.rows import STRIP_HOURS

WIDTH = 240
# An outage of seconds must still be seen in a strip of a day.
LEAST_WIDTH = 2


@dataclass(frozen=True)
class Mark:
    x: float
    width: float
    outage: Outage


@dataclass(frozen=True)
class Strip:
    marks: list[Mark]
    sentence: str


def draw_strip(outages: list[Outage], now: datetime) -> Strip:
    began = now - timedelta(hours=STRIP_HOURS)
    scale = WIDTH / timedelta(hours=STRIP_HOURS).total_seconds()
    marks = []
    for outage in outages:
        x = max((outage.began_at - began).total_seconds() * scale, 0)
        width = max((outage.ended_at - began).total_seconds() * scale - x, LEAST_WIDTH)
        marks.append(Mark(round(min(x, WIDTH - LEAST_WIDTH), 1), round(min(width, WIDTH), 1), outage))
    times = f"{len(marks)} time{'' if len(marks) == 1 else 's'}" if marks else "never"
    return Strip(marks, f"Left closed {times} in the last {STRIP_HOURS} hours")
