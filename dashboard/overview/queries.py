"""Everything the overview shows of the sections; their own queries have the figures."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from breakers import queries as breakers
from breakers.rows import Row as BreakerRow
from breakers.rows import make_rows
from dashboard.memo import Memo
from dlq.queries import overview as letters
from projections import queries as projections
from projections.lag import RATE_WINDOW

SHOWN_BREAKERS = 5
# Many people may have this page open; what was true two seconds ago will do for all of them.
REMEMBERED_SECONDS = 2


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
    """Those that are not closed, the longest first; what is not known is said by `found.error`."""

    found: breakers.OpenOnes
    rows: list[BreakerRow]


@dataclass(frozen=True)
class Figures:
    letters: letters.OpenFigures
    recent: letters.Recent
    slots: letters.Slots
    history: letters.History
    projections: list[projections.Row]
    breakers: Breakers

    @property
    def behind(self) -> list[projections.Row]:
        """The projections that have events before them, the longest delay first."""
        rows = [row for row in self.projections if row.measures.lag.events]
        return sorted(rows, key=lambda row: -row.measures.lag.delay_seconds)


def gather(wanted: Range) -> Figures:
    slots = letters.cut(wanted.span, wanted.step)
    return Figures(
        letters=letters.get_open(),
        recent=letters.count_recent(),
        slots=slots,
        history=letters.get_history(slots),
        projections=projections.list_rows(since=RATE_WINDOW),
        breakers=get_breakers(),
    )


def get_breakers() -> Breakers:
    found = breakers.list_open("", SHOWN_BREAKERS)
    shown = breakers.get_breakers(found.refs[:SHOWN_BREAKERS])
    return Breakers(found, make_rows(shown, is_known=not found.error))


recent_figures: dict[str, Callable[[], Figures]] = {
    name: Memo(partial(gather, wanted), REMEMBERED_SECONDS) for name, wanted in RANGES.items()
}
