"""Everything the overview shows of the sections; their own queries have the figures."""

from dataclasses import dataclass
from datetime import timedelta

from breakers import queries as breakers
from breakers.needs import MOST_NEEDS
from breakers.rows import Row as BreakerRow
from breakers.rows import make_rows
from dlq.queries.groups import count_tabs
from dlq.queries.overview import History, OpenFigures, Recent, Slots, count_recent, cut, get_history, get_open
from projections.lag import RATE_WINDOW
from projections.lines import Lines, list_lines
from projections.models import ForeignProjection
from projections.queries import list_rows

# Whichever of them needs somebody by its name is shown.
SHOWN_BREAKERS = MOST_NEEDS


@dataclass(frozen=True)
class Range:
    """How far the charts look back, and what one column of them stands for."""

    words: str
    span: timedelta
    step: timedelta


RANGES = {
    "24h": Range("24 hours", timedelta(hours=24), timedelta(minutes=30)),
    "7d": Range("7 days", timedelta(days=7), timedelta(hours=3)),
}


@dataclass(frozen=True)
class Breakers:
    """Those that are not closed, the newest first; what is not known is said by `found.error`."""

    found: breakers.OpenOnes
    rows: list[BreakerRow]


@dataclass(frozen=True)
class Figures:
    letters: OpenFigures
    # Groups with open letters, of which only the worst are named as what needs somebody.
    group_count: int
    recent: Recent
    slots: Slots
    history: History
    projections: Lines
    breakers: Breakers


def gather(wanted: Range) -> Figures:
    slots = cut(wanted.span, wanted.step)
    return Figures(
        letters=get_open(),
        group_count=count_tabs()["with_open"],
        recent=count_recent(),
        slots=slots,
        history=get_history(slots),
        projections=list_lines(list_rows(since=RATE_WINDOW), ForeignProjection.objects.all()),
        breakers=get_breakers(),
    )


def get_breakers() -> Breakers:
    found = breakers.list_open("", SHOWN_BREAKERS)
    shown = breakers.get_breakers(found.refs[:SHOWN_BREAKERS])
    return Breakers(found, make_rows(shown, found.silent))
