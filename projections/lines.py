"""All projections, ours and those of other systems, a line for each: what the overview and their list say of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.urls import reverse

from dashboard.words import agree
from projections.foreign.queries import explain_worst, is_behind
from projections.models import ForeignProjection
from projections.queries import Row
from projections.reasons import Reason


@dataclass(frozen=True)
class Line:
    name: str
    url: str
    reason: Reason
    # None: not known. `bound` says "at most" or "at least" where another system's tables tell no more.
    lag: int | None
    bound: str
    # None: nothing waits, or nobody can tell for how long.
    delay_seconds: float | None
    # None: nobody can tell.
    is_behind: bool | None
    # Of ours: events before the checkpoint that wait for a breaker.
    waiting_count: int = 0


@dataclass(frozen=True)
class Lines:
    """Those that need somebody first, and of these the longest delay."""

    all: list[Line]

    @property
    def needing(self) -> list[Line]:
        """Those that are among what needs a person."""
        return [line for line in self.all if line.reason.needs_you]

    @property
    def behind(self) -> list[Line]:
        """Those that have had events before them for more than a moment, the longest delay first."""
        lines = [line for line in self.all if line.is_behind]
        return sorted(lines, key=lambda line: -(line.delay_seconds or 0))

    @property
    def unsure(self) -> list[Line]:
        """Those of which nobody can tell whether they are behind."""
        return [line for line in self.all if line.is_behind is None]

    @property
    def uneasy(self) -> list[Line]:
        """Paused, waiting or just stopped: nobody is needed yet, and up to date is not the word."""
        return [line for line in self.all if line.reason.tone == "warn" and not line.reason.needs_you]

    @property
    def standing(self) -> str:
        """How they are, while none of them needs anybody; empty: all are up to date."""
        behind, unsure, uneasy = len(self.behind), len(self.unsure), len(self.uneasy)
        if behind:
            more = f", {unsure:,} more may be" if unsure else ""
            return f"{self.count(behind)} {agree(behind, 'is', 'are')} behind{more}"
        if unsure:
            return f"{self.count(unsure)} may be behind"
        return f"{self.count(uneasy)} {agree(uneasy, 'is', 'are')} worth a look" if uneasy else ""

    def count(self, number: int) -> str:
        """So many of them, as the beginning of a clause."""
        return "the only projection" if len(self.all) == 1 else f"{number:,} of {len(self.all):,} projections"

    @property
    def only(self) -> Line | None:
        """The one that there is something to say of; None: of several, or of none."""
        told = self.needing or [*self.behind, *self.unsure] or self.uneasy
        return told[0] if len(told) == 1 else None


def list_lines(rows: Iterable[Row], foreign: Iterable[ForeignProjection]) -> Lines:
    lines = [*map(describe, rows), *map(describe_foreign, foreign)]
    return Lines(sorted(lines, key=lambda line: (line.reason.rank, -(line.delay_seconds or 0), line.name)))


def describe(row: Row) -> Line:
    lag, url = row.measures.lag, reverse("projections:projection", args=[row.projection.pk])
    waiting = row.waits.number if row.waits else 0
    return Line(
        row.projection.name, url, row.reason, lag.events, "", row.delay_seconds, row.is_behind, waiting
    )


def describe_foreign(row: ForeignProjection) -> Line:
    url = reverse("projections:foreign", args=[row.pk])
    if row.is_stale:
        return Line(str(row), url, explain_worst(row), None, "", None, None)
    bound = row.get_lag_bound_display() if row.lag_bound else ""
    return Line(str(row), url, explain_worst(row), row.lag, bound, row.delay_seconds, is_behind(row))
