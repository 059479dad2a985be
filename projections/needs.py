"""What the projections want a person to look at besides those that have stopped; asked on every page."""

from collections.abc import Iterator

from django.urls import reverse

from dashboard.attention import Need
from dashboard.templatetags.console import duration
from projections.lag import Lag, Measures, Rates, get_lags
from projections.models import NATIVE, Projection
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
        names = ", ".join(row.name for row in lagging[:3])
        sentence = f"{names} and {len(lagging) - 3:,} more have fallen behind."
        url = reverse("projections:projections")
        yield Need(f"{len(lagging):,} projections are behind", sentence, url, "See the projections", "warn")
        return
    consumed = list_consumed() if lagging else set()
    for row in lagging:
        lag = lags[row.pk]
        yield Need(
            f"{row.name} is {lag.events:,} event{'' if lag.events == 1 else 's'} behind",
            f"The oldest has waited for {duration(lag.delay_seconds)}. {explain_why(row, lag, row.name in consumed)}",
            reverse("projections:projection", args=[row.pk]),
            "See the projection",
            "warn",
        )


def is_lagging(lag: Lag, grace_seconds: float) -> bool:
    delay = lag.delay_seconds - grace_seconds
    return delay > LONG_SECONDS or (lag.events >= MANY_EVENTS and delay > BURST_SECONDS)


def explain_why(row: Projection, lag: Lag, is_consumed: bool) -> str:
    """What holds it up; that it is only slow its own page tells with figures."""
    if is_consumed and not row.block and row.state == Projection.State.RUNNING:
        return "It is at work."
    return explain(row, Measures(lag, Rates(), []), is_consumed=is_consumed, run=None, waits=None).sentence
