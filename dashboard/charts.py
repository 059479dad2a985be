"""Geometry of the charts; templates draw them as SVG with attributes and no style."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

# The space in which columns are drawn; it is stretched to the page's width, so text stands outside of it.
WIDTH, HEIGHT = 1000.0, 160.0
# Lines across a chart, at most, the lowest not counted.
MOST_TICKS = 4


@dataclass(frozen=True)
class Bar:
    """One column of a chart, in pixels."""

    x: float
    y: float
    width: float
    height: float


def draw_bars(values: Sequence[int], *, width: float, height: float, gap: float = 1) -> list[Bar]:
    """Columns that fill the width, the largest as high as the chart, a small one still to be seen; none for a zero."""
    most = max(values, default=0) or 1
    step = width / max(len(values), 1)
    bars = []
    for number, value in enumerate(values):
        if value:
            tall = round(max(height * value / most, 2), 2)
            bars.append(Bar(round(number * step, 2), height - tall, round(max(step - gap, 1), 2), tall))
    return bars


def draw_outline(bars: Iterable[Bar]) -> SafeString:
    """The columns as the data of one SVG path, for charts so small that nobody points at a column."""
    return SafeString(
        "".join(f"M{bar.x:g} {bar.y:g}h{bar.width:g}v{bar.height:g}h{-bar.width:g}z" for bar in bars)
    )


@dataclass(frozen=True)
class Series:
    """What one colour of a chart stands for; a value is None where it is not known."""

    label: str
    tone: str
    values: Sequence[int | None]

    @property
    def total(self) -> int:
        return sum(value or 0 for value in self.values)


@dataclass(frozen=True)
class Layer:
    """One colour of all columns, as the path of an SVG."""

    label: str
    tone: str
    total: int
    path: str


@dataclass(frozen=True)
class Tick:
    y: str
    value: int


@dataclass(frozen=True)
class Chart:
    """Columns over time, stacked; `words` has each one's, `marks` those under them, the last for the present."""

    layers: list[Layer]
    # Where nothing is known, as the path of an SVG: columns of full height, so that none is taken for a zero.
    gaps: str
    words: list[str]
    ticks: list[Tick]
    marks: list[str]
    sentence: str
    width: float = WIDTH
    height: float = HEIGHT

    @cached_property
    def hovers(self) -> SafeString:
        """An invisible column over each, with its words; by hand, since there are hundreds on a page."""
        step = self.width / len(self.words)
        return format_html_join(
            "",
            '<rect class="hover" x="{}" width="{}" height="{}"><title>{}</title></rect>',
            ((f"{n * step:.1f}", f"{step:.1f}", self.height, words) for n, words in enumerate(self.words)),
        )

    @property
    def is_empty(self) -> bool:
        return not any(layer.path for layer in self.layers)


def stack_columns(
    series: Sequence[Series], words: list[str], marks: list[str], sentence: str, *, gap: float = 0.2
) -> Chart:
    """A column for each of the words; `gap` is the part of it that stays free, below zero they touch without a seam."""
    step = WIDTH / len(words)
    gaps = [n for n in range(len(words)) if any(one.values[n] is None for one in series)]
    values = [[one.values[n] or 0 for one in series] for n in range(len(words))]
    ticks = make_ticks(max(map(sum, values)))
    scale = HEIGHT / ticks[-1]
    paths: list[list[str]] = [[] for _ in series]
    for n, stack in enumerate(values):
        y = HEIGHT
        for value, path in zip(stack, paths, strict=True):
            if value:
                height = value * scale
                y -= height
                path.append(
                    f"M{n * step:.1f} {y:.1f}h{step * (1 - gap):.1f}v{height:.1f}h{step * (gap - 1):.1f}z"
                )
    return Chart(
        layers=[
            Layer(one.label, one.tone, one.total, "".join(path))
            for one, path in zip(series, paths, strict=True)
        ],
        gaps="".join(f"M{n * step:.1f} 0h{step:.1f}v{HEIGHT:g}h{-step:.1f}z" for n in gaps),
        words=words,
        ticks=[Tick(f"{HEIGHT - tick * scale:.1f}", tick) for tick in ticks],
        marks=marks,
        sentence=sentence,
    )


def make_ticks(most: int) -> list[int]:
    """Round numbers from zero up to at least `most`, and never only zero."""
    step, factors = 1, (2.0, 2.5, 2.0)
    for turn in range(60):
        if step * MOST_TICKS >= most:
            break
        step = round(step * factors[turn % 3])
    return [step * n for n in range(max(ceil(most / step), 1) + 1)]
