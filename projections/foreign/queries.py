"""What the pages say about projections that others run; all of it was read and kept before."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from dashboard.attention import Need
from dashboard.models import AuditEntry
from dashboard.templatetags.console import duration
from dlq.api import count_open
from projections.charts import LagChart, draw_lag, draw_spark
from projections.foreign.judge import STALLED_AFTER
from projections.foreign.watch import UNDONE
from projections.lag import MOMENT_SECONDS, TREND_WINDOW, Lag, Sample
from projections.models import ForeignProjection, ForeignSample
from projections.models.foreign import STALE_AFTER
from projections.reasons import Reason
from sources.api import why_not

State = ForeignProjection.State
HISTORY_SIZE = 20
MOST_TROUBLED = 50
LOSS_IS_NEWS_FOR = timedelta(days=1)
SEVERITY = {"bad": 0, "warn": 1, "info": 2, "mute": 3, "good": 4}


@dataclass(frozen=True)
class ForeignRow:
    """A foreign projection with everything that a page says about it."""

    projection: ForeignProjection
    reason: Reason
    letters: dict[str, int] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)

    @property
    def open_count(self) -> int:
        return self.letters.get("failed", 0)

    @property
    def spark(self) -> str:
        lag = self.projection.lag
        return "" if lag is None else draw_spark(self.samples, Lag(0, lag, None))

    @property
    def chart(self) -> LagChart | None:
        """Head and position, where positions are numbers."""
        row = self.projection
        if row.head is None or row.position is None:
            return None
        now = Sample(row.read_at, row.head, row.position, row.lag or 0)
        return draw_lag(self.samples, now)

    @property
    def lost_count(self) -> int:
        return self.projection.unaccounted.get("number") or 0

    @property
    def strategy(self) -> str:
        """What it does with an event that fails, as redrive.toml says; empty: nobody said."""
        return str(settings.CONSUMERS.get(str(self.projection), {}).get("strategy", ""))

    @property
    def is_undone(self) -> bool:
        return bool(self.projection.reset.get("verdict") == UNDONE)

    @property
    def worst(self) -> Reason:
        return explain_worst(self.projection)


def list_foreign_rows(source: str = "") -> list[ForeignRow]:
    """Every projection that others run, those that need somebody first; `source` empty: of all sources."""
    projections = list(ForeignProjection.objects.filter(**({"source": source} if source else {})))
    samples = list_samples(projections)
    letters = {
        one: count_open([p.name for p in projections if p.source == one], source=one)
        for one in {p.source for p in projections}
    }
    rows = [
        ForeignRow(p, explain(p), letters[p.source].get(p.name, {}), samples.get(p.pk, []))
        for p in projections
    ]
    return sorted(rows, key=lambda row: (SEVERITY[row.worst.tone], str(row.projection)))


def get_foreign_row(projection: ForeignProjection) -> ForeignRow:
    letters = count_open([projection.name], source=projection.source).get(projection.name, {})
    samples = list_samples([projection]).get(projection.pk, [])
    return ForeignRow(projection, explain(projection), letters, samples)


def list_samples(projections: list[ForeignProjection]) -> dict[int, list[Sample]]:
    found: dict[int, list[Sample]] = {}
    recent = ForeignSample.objects.filter(projection__in=projections, at__gt=timezone.now() - TREND_WINDOW)
    rows = recent.order_by("at").values_list("projection_id", "at", "head", "position", "lag")
    for pk, at, head, position, lag in rows:
        found.setdefault(pk, []).append(Sample(at, head or 0, position or 0, lag))
    return found


def explain(row: ForeignProjection) -> Reason:
    if row.is_stale:
        since = duration((timezone.now() - row.read_at).total_seconds())
        sentence = f"{row.source} was last read {since} ago, so that nothing is known of it now."
        return Reason("Unknown", "warn", sentence)
    return Reason(row.get_state_display(), get_tone(row), row.evidence)


def explain_worst(row: ForeignProjection) -> Reason:
    """Its state, unless what happened to its events is worse than that."""
    reason = explain(row)
    if row.reset.get("verdict") == UNDONE and reason.tone != "bad":
        return Reason("Reset undone", "bad", row.reset["sentence"])
    if is_recent_loss(row) and reason.tone not in ("bad", "warn"):
        return Reason("Unaccounted", "warn", row.unaccounted["sentence"])
    return reason


def is_behind(row: ForeignProjection) -> bool:
    """Events waited when it was read, and not only those of that moment; what is not known is not behind."""
    if row.is_stale or not row.lag:
        return False
    return row.oldest_at is None or (row.read_at - row.oldest_at).total_seconds() >= MOMENT_SECONDS


def get_tone(row: ForeignProjection) -> str:
    if row.state == State.STALLED:
        return "bad"
    if row.state == State.STOPPED:
        # A worker that is only being started anew is no alarm.
        is_new = timezone.now() - row.state_since < STALLED_AFTER
        return "warn" if row.lag == 0 or is_new else "bad"
    if row.state == State.RUNNING:
        return "info" if is_behind(row) else "good"
    return "warn" if row.lag or not row.has_checkpoint else "mute"


def find_refusal(row: ForeignProjection) -> str:
    """Why its checkpoint cannot be reset now, as far as is known here; empty: it can be tried."""
    if not row.has_checkpoint:
        return "There is no checkpoint to reset."
    if row.is_stale:
        return f"No reset: {row.source} does not answer."
    if missing := why_not(row.source, "resets_checkpoints"):
        return f"No reset: {missing}"
    if row.state == State.RUNNING or (row.state == State.STALLED and row.is_worker_seen):
        return (
            "No reset while its worker runs: it would write its checkpoint anew at the head. Stop it first."
        )
    return ""


def list_history(row: ForeignProjection) -> list[AuditEntry]:
    entries = AuditEntry.objects.filter(subject=str(row), action__startswith="projection.")
    return list(entries.order_by("-at", "-id")[:HISTORY_SIZE])


def find_troubled() -> Iterator[Need]:
    """Foreign projections that wait for a person; one small query, since every page asks."""
    idle = Q(state=State.STALLED) | (Q(state=State.STOPPED) & ~Q(lag=0))
    fresh = Q(read_at__gt=timezone.now() - STALE_AFTER)
    lost, undone = Q(unaccounted__number__gt=0), Q(reset__verdict=UNDONE)
    rows = ForeignProjection.objects.filter((idle & fresh) | lost | undone).order_by("source", "name")
    found = list(rows[:MOST_TROUBLED])
    yield from find_idle([row for row in found if get_tone(row) == "bad" and not row.is_stale])
    for row in found:
        url = reverse("projections:foreign", args=[row.pk])
        if row.reset.get("verdict") == UNDONE:
            yield Need(f"The reset of {row} seems undone", row.reset["sentence"], url, "See the checkpoint")
        if is_recent_loss(row):
            number = row.unaccounted["number"]
            headline = f"{row} may have lost {number:,} event{'' if number == 1 else 's'}"
            yield Need(headline, row.unaccounted["sentence"], url, "See which", "warn")


def is_recent_loss(row: ForeignProjection) -> bool:
    """Its page names lost events for as long as its letters show them; on the overview they are news for a day."""
    newest_at = row.unaccounted.get("newest_at")
    return bool(newest_at) and timezone.now() - datetime.fromisoformat(newest_at) < LOSS_IS_NEWS_FOR


def find_idle(rows: list[ForeignProjection]) -> Iterator[Need]:
    """One worker often runs them all, so those of a source that are in the same state are one need."""
    alike: dict[tuple[str, str], list[ForeignProjection]] = {}
    for row in rows:
        alike.setdefault((row.source, row.get_state_display().lower()), []).append(row)
    for (source, word), some in alike.items():
        url = reverse("projections:foreign", args=[some[0].pk])
        if len(some) == 1:
            yield Need(f"{some[0]} is {word}", some[0].evidence, url, "See what waits")
        else:
            names = ", ".join(row.name for row in some[:3]) + (" and others" if len(some) > 3 else "")
            headline = f"{len(some)} projections of {source} are {word}"
            last = max(some, key=lambda row: row.lag or 0)
            sentence = f"{names}. Of {last.name}: {last.evidence}"
            yield Need(headline, sentence, reverse("projections:projections"), "See them")
