"""Orphans: rows that stand in their source's word for "try again" for so long that nobody seems to try them.

What counts is for how long they were seen so, up to the last look: of a source that does not answer, nobody knows
whether its rows have moved. Rows that a replay of ours asked for and still waits to hear of are no orphans, nor are
those that somebody has released already.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db.models import Exists, OuterRef

from dashboard.memo import Memo
from dashboard.words import counted
from dlq.api import is_awaited
from sources.models import ForeignRow, OwedRelease, SourceState
from sources.registry import get_source

# So many are looked at, and released at once: the longest waiting. If a replay waits for all of these, the others are
# told of when it no longer does.
MOST = 1000
# Every page asks.
REMEMBERED_SECONDS = 5


class Orphan(NamedTuple):
    key: str
    retrying_since: datetime


@dataclass(frozen=True)
class Orphans:
    rows: list[Orphan]
    # In the source's own words: how they stand, and what they get when they are released.
    word: str
    released: str
    minutes: float
    # All have stood so at this time, and since.
    until: datetime
    has_more: bool

    @property
    def count(self) -> int:
        return len(self.rows)

    @property
    def label(self) -> str:
        return f"{'over ' if self.has_more else ''}{counted(self.count, 'row')}"


def find_orphans(name: str, *, until: datetime | None = None) -> Orphans | None:
    """The source's orphans, or those among them that were orphans at a time before; None: there can be none."""
    source, state = get_source(name), SourceState.objects.filter(name=name).first()
    if source.words is None or not source.words.released or state is None or state.synced_at is None:
        return None
    latest = state.synced_at - timedelta(minutes=source.retry_minutes)
    until = min(until, latest) if until else latest
    is_released = Exists(OwedRelease.objects.filter(source=name, key=OuterRef("key")))
    rows = ForeignRow.objects.filter(source=name, retrying_since__lte=until).order_by("retrying_since")
    # Asked of each row that is looked at, and not used to look for others: so the number of these stays bounded.
    seen = list(rows.values_list("key", "retrying_since", is_awaited("letter_id"), is_released)[: MOST + 1])
    return Orphans(
        [Orphan(key, since) for key, since, *is_in_hand in seen[:MOST] if since and not any(is_in_hand)],
        source.words.retry,
        source.words.released,
        source.retry_minutes,
        until,
        has_more=len(seen) > MOST,
    )


def find_all() -> dict[str, Orphans]:
    """Those of all sources that have some."""
    found = {name: find_orphans(name) for name in sorted(settings.SOURCES)}
    return {name: orphans for name, orphans in found.items() if orphans and orphans.count}


find_all_orphans = Memo(find_all, seconds=REMEMBERED_SECONDS)
