"""Where the sources' pages get what they show: Postgres alone; a page never asks a source."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import Http404
from django.utils import timezone

from dashboard.config import every_seconds
from dashboard.models import Run
from dlq.api import count_by_source
from sources.health import Health, judge
from sources.inspection import Kept
from sources.models import MovedRow, OwedRelease, OwedWrite, SourceState
from sources.sync.importing import find_imports

# Above this the page says "10,000+".
MOST_COUNTED = 10_000
SHOWN_MOVED = 50

# Each capability, as a sentence and in short.
CAPABILITIES = {
    "reads_letters": ("Its dead letters are read", "read letters"),
    "writes_status": ("Resolve, discard and restore are written back", "write back"),
    "reads_checkpoints": ("Its checkpoints are read", "read checkpoints"),
    "resets_checkpoints": ("Checkpoints can be reset", "reset checkpoints"),
}

SAME = "For the same reason."


@dataclass(frozen=True)
class SourceRow:
    """A source that redrive.toml names, and what is known of it."""

    name: str
    kind: str
    # None: nobody has looked yet.
    state: SourceState | None
    health: Health
    open_count: int
    # Letters that may have to be written back, and rows to be released; capped.
    owed_count: int
    importing: Run | None
    now: datetime

    @property
    def delay_seconds(self) -> float | None:
        """How old what is shown may be; None: nothing is known, or there are rows that have never been read."""
        if self.state is None or self.importing or self.state.cursor.get("is_behind"):
            return None
        at = self.state.synced_at
        return (self.now - at).total_seconds() if at else None

    @property
    def owed_label(self) -> str:
        return f"{self.owed_count:,}{'+' if self.owed_count >= MOST_COUNTED else ''}"

    @property
    def kept(self) -> Kept | None:
        return Kept.of(self.state.inspection) if self.state else None

    @property
    def is_known(self) -> bool:
        """Whether a look has ever come to its end; before, no number of letters means anything."""
        return self.state is not None and self.state.synced_at is not None

    @property
    def abilities(self) -> list[tuple[str, str]]:
        """What can be done, and why not, each reason once; nothing before the first look."""
        if not self.kept:
            return []
        found: dict[str, str] = {}
        for name, (label, _) in CAPABILITIES.items():
            why = self.kept.why_not[name]
            found[label] = SAME if why and why in found.values() else why
        return list(found.items())

    @property
    def missing(self) -> list[tuple[str, str]]:
        """What cannot be done, in short, and why."""
        why = self.kept.why_not if self.kept else {}
        return [(short, why[name]) for name, (_, short) in CAPABILITIES.items() if why.get(name)]


def list_health() -> dict[str, Health]:
    """How each source is, and nothing more: every page asks."""
    states = SourceState.objects.defer("inspection").in_bulk(list(settings.SOURCES))
    imports = find_imports({name: state.cursor for name, state in states.items()})
    now = timezone.now()
    return {
        name: judge(states.get(name), every_seconds(values), imports.get(name), now)
        for name, values in sorted(settings.SOURCES.items())
    }


def list_rows() -> list[SourceRow]:
    return make_rows(settings.SOURCES)


def get_row(name: str) -> SourceRow:
    """The source; Http404 if redrive.toml names none of this name."""
    if name not in settings.SOURCES:
        raise Http404(f"redrive.toml names no source {name}.")
    return make_rows({name: settings.SOURCES[name]})[0]


def make_rows(sources: dict[str, dict[str, Any]]) -> list[SourceRow]:
    states = SourceState.objects.in_bulk(list(sources))
    imports = find_imports({name: state.cursor for name, state in states.items()})
    counts, now = count_by_source(), timezone.now()
    return [
        SourceRow(
            name,
            values["kind"],
            states.get(name),
            judge(states.get(name), every_seconds(values), imports.get(name), now),
            open_count=counts.get(name, 0),
            owed_count=count_owed(name),
            importing=imports.get(name),
            now=now,
        )
        for name, values in sorted(sources.items())
    ]


def count_owed(name: str) -> int:
    """Of each kind as many as are counted."""
    return sum(owed.objects.filter(source=name)[:MOST_COUNTED].count() for owed in (OwedWrite, OwedRelease))


def list_moved(name: str) -> list[MovedRow]:
    return list(MovedRow.objects.filter(source=name).order_by("-at")[:SHOWN_MOVED])
