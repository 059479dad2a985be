"""Charts as figures for SVG templates: real sizes, attributes only, and a sentence for those who do not see them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from dashboard.words import counted
from projections.lag import Lag, Sample
from projections.models import Pace

# Stretched to the width of the page; their text stands beside them, since it must not be stretched.
WIDTH, HEIGHT, EDGE = 560, 148, 4
SPARK_WIDTH, SPARK_HEIGHT = 120, 24
MINUTES = 60
BAR_WIDTH, BARS_HEIGHT = 9, 120
FAILURES = (("retried", "info"), ("skipped", "mute"), ("dead_lettered", "warn"), ("fatal", "bad"))


@dataclass(frozen=True)
class Point:
    x: float
    head_y: float
    position_y: float
    sample: Sample


@dataclass(frozen=True)
class LagChart:
    """Head and position over time; the gap between the lines is the lag."""

    points: list[Point]
    most: int
    least: int
    sentence: str

    @property
    def head_line(self) -> str:
        return " ".join(f"{point.x:.1f},{point.head_y:.1f}" for point in self.points)

    @property
    def position_line(self) -> str:
        return " ".join(f"{point.x:.1f},{point.position_y:.1f}" for point in self.points)

    @property
    def gap(self) -> str:
        back = " ".join(f"{point.x:.1f},{point.position_y:.1f}" for point in reversed(self.points))
        return f"{self.head_line} {back}"


def draw_lag(samples: list[Sample], now: Sample) -> LagChart | None:
    """None while there are too few samples to draw a line."""
    samples = [*samples, now]
    if len(samples) < 3:
        return None
    most, least = max(s.head for s in samples), min(s.position for s in samples)
    began, span = samples[0].at, max((samples[-1].at - samples[0].at).total_seconds(), 1)

    def y(value: int) -> float:
        return EDGE + (HEIGHT - 2 * EDGE) * (1 - (value - least) / max(most - least, 1))

    points = [
        Point(
            WIDTH * (sample.at - began).total_seconds() / span,
            y(sample.head),
            y(sample.position),
            sample,
        )
        for sample in samples
    ]
    return LagChart(points, most, least, describe_gap([sample.head - sample.position for sample in samples]))


def describe_gap(gaps: list[int]) -> str:
    """What a person sees in the chart, also a gap that came and went between its ends."""
    was, is_now, widest = gaps[0], gaps[-1], max(gaps)
    trend = "grew" if is_now > was else "shrank"
    if is_now != was:
        change = f"{trend} from {was:,} to {counted(is_now, 'position')}"
    elif widest == min(gaps):
        change = f"stayed at {counted(was, 'position')}"
    else:
        change = f"is {counted(is_now, 'position')}, as it was at first"
    between = f"; it was up to {widest:,} between" if widest > max(was, is_now) else ""
    return f"The gap between head and position {change}{between}."


def draw_spark(samples: list[Sample], lag: Lag) -> str:
    """The lag as the points of a small line; empty while there is nothing to compare."""
    values = [sample.lag for sample in samples] + [lag.events]
    if len(values) < 3:
        return ""
    step, most = SPARK_WIDTH / (len(values) - 1), max(*values, 1)
    return " ".join(
        f"{n * step:.1f},{(SPARK_HEIGHT - 2) * (1 - value / most) + 1:.1f}" for n, value in enumerate(values)
    )


@dataclass(frozen=True)
class Part:
    tone: str
    y: float
    height: float


@dataclass(frozen=True)
class Bar:
    """One minute: what went wrong in it, stacked."""

    x: int
    starts_at: datetime
    counts: dict[str, int]
    parts: list[Part]


@dataclass(frozen=True)
class FailureChart:
    bars: list[Bar]
    most: int
    totals: dict[str, int]

    @property
    def is_empty(self) -> bool:
        return not any(self.totals.values())


def draw_failures(paces: list[Pace]) -> FailureChart:
    now = timezone.now().replace(second=0, microsecond=0)
    by_minute = {pace.starts_at: pace for pace in paces}
    minutes = [now - timedelta(minutes=MINUTES - 1 - n) for n in range(MINUTES)]
    counts = [{name: getattr(by_minute.get(minute), name, 0) for name, _ in FAILURES} for minute in minutes]
    most = max(max(sum(found.values()) for found in counts), 1)
    bars = [
        Bar(n * BAR_WIDTH, minute, found, stack(found, most))
        for n, (minute, found) in enumerate(zip(minutes, counts, strict=True))
    ]
    totals = {name: sum(found[name] for found in counts) for name, _ in FAILURES}
    return FailureChart(bars, most, totals)


def stack(counts: dict[str, int], most: int) -> list[Part]:
    parts, top = [], float(BARS_HEIGHT)
    for name, tone in FAILURES:
        if counts[name]:
            height = BARS_HEIGHT * counts[name] / most
            top -= height
            parts.append(Part(tone, round(top, 1), round(height, 1)))
    return parts
