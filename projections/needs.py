"""What the projections want a person to look at besides those that have stopped; asked on every page."""

from collections.abc import Iterator
from datetime import timedelta

from django.urls import reverse
from django.utils import timezone

from dashboard.attention import Need
from dashboard.templatetags.console import duration
from projections.lag import Lag, Measures, Rates, get_lags
from projections.models import NATIVE, ForeignProjection, Projection
from projections.models.foreign import STALE_AFTER
from projections.queries import list_consumed
from projections.reasons import explain

# Behind by so many events, and for longer than a burst takes; or for so long, whatever the number. Retries that its
# policy allows come on top.
MANY_EVENTS, BURST_SECONDS = 1000, 60
LONG_SECONDS = 300
# More than these are one thing that needs a person, not many.
MOST_NEEDS = 5
# The others wait for a person already, or are being worked on.
WATCHED = (Projection.State.RUNNING, Projection.State.PAUSED)


def find_lagging() -> Iterator[Need]:
    """Projections that are too far behind, in one small query if there is none."""
    lags = {pk: lag for pk, lag in get_lags().items() if lag.events}
    if not lags:
        return
    rows = Projection.objects.filter(pk__in=lags, source=NATIVE, state__in=WATCHED).defer(
        "stacktrace", "tries"
    )
    lagging = [row for row in rows.order_by("name") if is_lagging(lags[row.pk], row.grace_seconds)]
    if len(lagging) > MOST_NEEDS:
        yield sum_up([row.name for row in lagging])
        return
    consumed = list_consumed() if lagging else set()
    for row in lagging:
        why = explain_why(row, lags[row.pk], row.name in consumed)
        yield describe(row.name, lags[row.pk], why, reverse("projections:projection", args=[row.pk]))


def find_lagging_foreign() -> Iterator[Need]:
    """The same of projections that other systems run; those that do not run are needs of their own."""
    now = timezone.now()
    rows = ForeignProjection.objects.filter(
        state=ForeignProjection.State.RUNNING,
        lag__gt=0,
        oldest_at__lt=now - timedelta(seconds=BURST_SECONDS),
        read_at__gt=now - STALE_AFTER,
    ).exclude(lag_bound=ForeignProjection.Bound.AT_MOST)
    lags = {row: Lag(0, row.lag or 0, row.oldest_at) for row in rows.order_by("source", "name")}
    lagging = [row for row, lag in lags.items() if is_lagging(lag, grace_seconds=0)]
    if len(lagging) > MOST_NEEDS:
        yield sum_up([str(row) for row in lagging])
        return
    for row in lagging:
        url = reverse("projections:foreign", args=[row.pk])
        bound = f"{row.get_lag_bound_display()} " if row.lag_bound else ""
        yield describe(str(row), lags[row], row.evidence, url, bound)


def describe(name: str, lag: Lag, why: str, url: str, bound: str = "") -> Need:
    return Need(
        f"{name} is {bound}{lag.events:,} event{'' if lag.events == 1 else 's'} behind",
        f"The oldest has waited for {duration(lag.delay_seconds)}. {why}",
        url,
        "See the projection",
        "warn",
    )


def sum_up(names: list[str]) -> Need:
    sentence = f"{', '.join(names[:3])} and {len(names) - 3:,} more have fallen behind."
    url = reverse("projections:projections")
    return Need(f"{len(names):,} projections are behind", sentence, url, "See the projections", "warn")


def is_lagging(lag: Lag, grace_seconds: float) -> bool:
    delay = lag.delay_seconds - grace_seconds
    return delay > LONG_SECONDS or (lag.events >= MANY_EVENTS and delay > BURST_SECONDS)


def explain_why(row: Projection, lag: Lag, is_consumed: bool) -> str:
    """What holds it up; that it is only slow its own page tells with figures."""
    if is_consumed and not row.block and row.state == Projection.State.RUNNING:
        return "It is at work."
    return explain(row, Measures(lag, Rates(), []), is_consumed=is_consumed, run=None, waits=None).sentence
