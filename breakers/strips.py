"""The last day of a breaker as a strip, drawn on the server."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from breakers.history import Outage
from dashboard.words import clock, counted

STRIP_HOURS = 24
WIDTH = 240
# An outage of seconds must still be seen in a strip of a day.
LEAST_WIDTH = 2


@dataclass(frozen=True)
class Mark:
    """One outage: where it stands, as the attributes are written, and its words."""

    x: str
    width: str
    words: str


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
        words = f"Not closed from {clock(outage.began_at)} to {clock(outage.ended_at)}"
        marks.append(Mark(f"{min(x, WIDTH - LEAST_WIDTH):.1f}", f"{min(width, WIDTH):.1f}", words))
    if not marks:
        return Strip(marks, f"Closed for all of the last {STRIP_HOURS} hours, as far as is on record")
    return Strip(marks, f"Not closed {counted(len(marks), 'time')} in the last {STRIP_HOURS} hours")
