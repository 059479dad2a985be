"""The projections on the overview: ours and those that other systems run, in one list."""

from dataclasses import dataclass

from django.urls import reverse

from projections.foreign.queries import SEVERITY, explain_worst, is_behind
from projections.lag import RATE_WINDOW
from projections.models import ForeignProjection
from projections.queries import Row, list_rows
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
    is_behind: bool = False
    # Of ours: events before the checkpoint that wait for a breaker.
    waiting_count: int = 0


def list_lines() -> list[Line]:
    """Every projection, those that need somebody first, and of these the longest delay."""
    native = [describe(row) for row in list_rows(since=RATE_WINDOW)]
    foreign = [describe_foreign(row) for row in ForeignProjection.objects.all()]
    return sorted(
        native + foreign,
        key=lambda line: (SEVERITY[line.reason.tone], -(line.delay_seconds or 0), line.name),
    )


def describe(row: Row) -> Line:
    lag, url = row.measures.lag, reverse("projections:projection", args=[row.projection.pk])
    waiting = row.waits.number if row.waits else 0
    return Line(
        row.projection.name, url, row.reason, lag.events, "", row.delay_seconds, row.is_behind, waiting
    )


def describe_foreign(row: ForeignProjection) -> Line:
    url = reverse("projections:foreign", args=[row.pk])
    if row.is_stale:
        return Line(str(row), url, explain_worst(row), None, "", None)
    bound = row.get_lag_bound_display() if row.lag_bound else ""
    return Line(str(row), url, explain_worst(row), row.lag, bound, row.delay_seconds, is_behind(row))
