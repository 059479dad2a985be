"""Which projections of other systems need a person, and why; asked on every page."""

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from dashboard.attention import Need
from dashboard.words import counted
from projections.foreign.queries import find_lag, is_idle, is_late, is_recent_loss, is_undone
from projections.foreign.watch import UNDONE
from projections.lag import BURST_SECONDS
from projections.models import ForeignProjection
from projections.models.foreign import STALE_AFTER, find_stale_after
from projections.needs import MOST_NEEDS, describe_lag, name_some, sum_up

State = ForeignProjection.State
MOST_TROUBLED = 50


def find_troubled() -> Iterator[Need]:
    """One small query for all that may be; which of them are, the same rules say that the pages go by."""
    now = timezone.now()
    idle = Q(state=State.STALLED) | (Q(state=State.STOPPED) & ~Q(lag=0))
    late = Q(state=State.RUNNING, lag__gt=0, oldest_at__lt=now - timedelta(seconds=BURST_SECONDS))
    seldom = [source for source in settings.SOURCES if find_stale_after(source) > STALE_AFTER]
    fresh = Q(read_at__gt=now - STALE_AFTER) | Q(source__in=seldom)
    lost, undone = Q(unaccounted__number__gt=0), Q(reset__verdict=UNDONE)
    rows = ForeignProjection.objects.filter(((idle | late) & fresh) | lost | undone)
    found = list(rows.order_by("source", "name")[:MOST_TROUBLED])
    yield from describe_idle([row for row in found if is_idle(row)])
    for row in found:
        url = reverse("projections:foreign", args=[row.pk])
        if is_undone(row):
            yield Need(f"The reset of {row} seems undone", row.reset["sentence"], url, "See the checkpoint")
        if is_recent_loss(row):
            number = row.unaccounted["number"]
            headline = f"{row} has {counted(number, 'unaccounted event')}"
            yield Need(headline, row.unaccounted["sentence"], url, "See which", "warn")
    yield from describe_late([row for row in found if is_late(row)])


def describe_idle(rows: list[ForeignProjection]) -> Iterator[Need]:
    """One worker often runs them all, so those of a source that are in the same state are one need."""
    alike: dict[tuple[str, str], list[ForeignProjection]] = {}
    for row in rows:
        alike.setdefault((row.source, row.get_state_display().lower()), []).append(row)
    for (source, word), some in alike.items():
        url = reverse("projections:foreign", args=[some[0].pk])
        if len(some) == 1:
            yield Need(f"{some[0]} is {word}", some[0].evidence, url, "See what waits")
        else:
            headline = f"{len(some)} projections of {source} are {word}"
            last = max(some, key=lambda row: row.lag or 0)
            names = name_some([row.name for row in some], len(some))
            sentence = f"{names}. Of {last.name}: {last.evidence}"
            yield Need(headline, sentence, reverse("projections:projections"), "See them")


def describe_late(rows: list[ForeignProjection]) -> Iterator[Need]:
    if len(rows) > MOST_NEEDS:
        yield sum_up([str(row) for row in rows])
        return
    for row in rows:
        url = reverse("projections:foreign", args=[row.pk])
        bound = f"{row.get_lag_bound_display()} " if row.lag_bound else ""
        yield describe_lag(str(row), find_lag(row), row.evidence, url, bound=bound)
