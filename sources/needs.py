"""Sources on the overview: those that cannot be read, rows that nobody tries, and rows that were not overwritten."""

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils import timezone

from dashboard.attention import Need
from sources.models import MovedRow, SourceState
from sources.orphans import find_all_orphans
from sources.queries import list_health

# Long enough that whoever closed them sees it.
MOVED_FOR = timedelta(hours=1)


def find_silent() -> Iterator[Need]:
    for name, health in list_health().items() if settings.SOURCES else ():
        if health.needs_somebody:
            url, link = reverse("sources:source", args=[name]), "See the source"
            yield Need(f"{name} {health.says}", health.sentence, url, link, is_away=health.is_away)


def find_untried() -> Iterator[Need]:
    for name, orphans in find_all_orphans().items() if settings.SOURCES else ():
        url = reverse("sources:source", args=[name])
        whose = "Its" if orphans.count == 1 else "Their"
        yield Need(
            f"Nobody seems to try {orphans.label} of {name}",
            f"{whose} status has been “{orphans.word}” for over {orphans.minutes:g} min.",
            url,
            "See the source",
            "warn",
        )


def find_moved() -> Iterator[Need]:
    if not settings.SOURCES:
        return
    # One probe of the index for each source, however many of its rows have moved.
    recent = MovedRow.objects.filter(source=OuterRef("name"), at__gt=timezone.now() - MOVED_FOR)
    states = SourceState.objects.filter(Exists(recent), name__in=list(settings.SOURCES))
    for name in states.order_by("name").values_list("name", flat=True):
        yield Need(
            f"Rows of {name} moved before they could be written",
            "They were not overwritten, and their letters follow them.",
            reverse("sources:source", args=[name]),
            "See which",
            "warn",
        )
