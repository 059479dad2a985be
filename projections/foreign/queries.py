"""What the pages say about projections that others run; all of it was read and kept before."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from dashboard.models import AuditEntry
from dashboard.words import say_ago
from dlq.api import count_open
from projections.charts import LagChart, draw_lag, draw_spark
from projections.foreign.judge import STALLED_AFTER
from projections.foreign.watch import UNDONE
from projections.lag import MOMENT_SECONDS, TREND_WINDOW, Lag, Sample
from projections.models import ForeignProjection, ForeignSample
from projections.reasons import Reason
from sources.api import why_not

State = ForeignProjection.State
HISTORY_SIZE = 20
LOSS_IS_NEWS_FOR = timedelta(days=1)


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
    def no_letters(self) -> str:
        """Why its source has no letters to be read; empty: it has, or one is open all the same."""
        return "" if self.letters else why_not(self.projection.source, "reads_letters")

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
    def has_target(self) -> bool:
        """Whether redrive.toml says where its letters are replayed to."""
        return "target" in settings.CONSUMERS.get(str(self.projection), {})

    @property
    def is_undone(self) -> bool:
        return is_undone(self.projection)

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
    return sorted(rows, key=lambda row: (row.worst.rank, str(row.projection)))


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
        sentence = f"{row.source} was last read {say_ago(row.read_at)}, so that nothing is known of it now."
        return Reason("Unknown", "warn", sentence)
    # That it runs stands in its evidence; a badge that warns says of what.
    is_slow = row.state == State.RUNNING and is_behind(row)
    return Reason("Behind" if is_slow else row.get_state_display(), get_tone(row), row.evidence)


def explain_worst(row: ForeignProjection) -> Reason:
    """Its state, unless what happened to its events is worse than that; and whether a person has to do something."""
    reason = explain(row)
    if reason.tone != "bad" and is_undone(row):
        reason = Reason("Reset undone", "bad", row.reset["sentence"])
    elif reason.tone != "bad" and is_recent_loss(row):
        reason = Reason("Unaccounted", "warn", row.unaccounted["sentence"])
    return replace(reason, needs_you=needs_somebody(row))


def needs_somebody(row: ForeignProjection) -> bool:
    """The one rule by which pages count those that need you; what is listed among the needs is each of these."""
    return is_idle(row) or is_undone(row) or is_recent_loss(row) or is_late(row)


def is_idle(row: ForeignProjection) -> bool:
    """Whether it was seen not to move, or not to run, and events wait or may wait."""
    return not row.is_stale and get_tone(row) == "bad"


def is_undone(row: ForeignProjection) -> bool:
    return bool(row.reset.get("verdict") == UNDONE)


def is_recent_loss(row: ForeignProjection) -> bool:
    """Its page names lost events for as long as its letters show them; on the overview they are news for a day."""
    newest_at = row.unaccounted.get("newest_at")
    return bool(newest_at) and timezone.now() - datetime.fromisoformat(newest_at) < LOSS_IS_NEWS_FOR


def is_late(row: ForeignProjection) -> bool:
    """Whether it runs, and is too far behind."""
    return row.state == State.RUNNING and bool(is_behind(row)) and find_lag(row).is_too_far()


def find_lag(row: ForeignProjection) -> Lag:
    return Lag(0, row.lag or 0, row.oldest_at)


def is_behind(row: ForeignProjection) -> bool | None:
    """Events waited when it was read, and not only those of that moment; None: nobody can tell.

    Events of types that it does not handle may wait for ever: "at most so many" may be none.
    """
    if row.is_stale or row.lag is None or row.lag_bound == ForeignProjection.Bound.AT_MOST:
        return None
    if not row.lag:
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
        if is_late(row):
            return "warn"
        return "info" if is_behind(row) else "good"
    return "warn" if row.lag or not row.has_checkpoint else "mute"


def find_refusal(row: ForeignProjection) -> str:
    """Why its checkpoint cannot be reset now, as far as is known here; empty: it can be tried."""
    if not row.has_checkpoint:
        return "There is no checkpoint to reset."
    if row.is_stale:
        return f"No reset. {row.source} does not answer."
    if missing := why_not(row.source, "resets_checkpoints"):
        return f"No reset. {missing}"
    if row.state == State.RUNNING or (row.state == State.STALLED and row.is_worker_seen):
        return (
            "No reset while its worker runs: it would write its checkpoint anew at the head. Stop it first."
        )
    return ""


def list_history(row: ForeignProjection) -> list[AuditEntry]:
    entries = AuditEntry.objects.filter(subject=str(row), action__startswith="projection.")
    return list(entries.order_by("-at", "-id")[:HISTORY_SIZE])
