"""Geometry of the charts; templates draw them as SVG at their real size, with attributes and no style."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString


@dataclass(frozen=True)
class Bar:
    """One column of a chart, in pixels; `value` is for the reader."""

    x: float
    y: float
    width: float
    height: float
    value: int


def draw_bars(values: Sequence[int], *, width: float, height: float, gap: float = 1) -> list[Bar]:
    """Columns that fill the width, the largest as high as the chart; a zero keeps a hairline, so that time shows."""
    most = max(values, default=0) or 1
    step = width / max(len(values), 1)
    bars = []
    for number, value in enumerate(values):
        tall = max(height * value / most, 1)
        bars.append(
            Bar(
                round(number * step, 2),
                round(height - tall, 2),
                round(max(step - gap, 1), 2),
                round(tall, 2),
                value,
            )
        )
    return bars


def draw_rects(bars: Iterable[Bar]) -> SafeString:
    """The columns as SVG, each with its value on hover; only numbers are written, so there is nothing to escape."""
    return SafeString(
        "".join(
            f'<rect x="{bar.x:g}" y="{bar.y:g}" width="{bar.width:g}" height="{bar.height:g}">'
            f"<title>{bar.value:,}</title></rect>"
            for bar in bars
        )
    )


def draw_outline(bars: Iterable[Bar]) -> SafeString:
    """The columns as the data of one SVG path, for charts so small that nobody points at a column."""
    return SafeString(
        "".join(f"M{bar.x:g} {bar.y:g}h{bar.width:g}v{bar.height:g}h{-bar.width:g}z" for bar in bars)
    )
