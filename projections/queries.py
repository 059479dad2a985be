"""Where the pages' figures come from."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet
from django.utils import timezone

from dashboard.models import AuditEntry, Heartbeat, Lane, Run
from dashboard.workers.queries import is_silent, list_heartbeats
from dlq.api import Override, count_open, count_overrides, find_overrides
from projections.charts import draw_spark
from projections.lag import TREND_WINDOW, Lag, Measures, Rates, Sample, count_seen, get_measures
from projections.models import NATIVE, Event, Pace, Projection, RebuildRequest, Skip, WaitingEvent
from projections.reasons import Reason, Waits, explain
from projections.store import StoredEvent, get_head, get_tail

# Shown of a history; the audit trail has all of it.
HISTORY_SIZE = 20
CHART_WINDOW = timedelta(hours=1)
# What a rebuild does when none has been seen: slow rather than fast, so that nobody is disappointed.
MODEST_RATE = 2000.0


@dataclass(frozen=True)
class Row:
    """A projection with everything that a page says about it."""

    projection: Projection
    measures: Measures
    reason: Reason
    run: Run | None
    is_consumed: bool
    letters: dict[str, int] = field(default_factory=dict)
    waits: Waits | None = None

    @property
    def is_behind(self) -> bool:
        """Also when only events before the checkpoint wait."""
        return self.waits is not None or self.measures.lag.is_behind

    @property
    def delay_seconds(self) -> float | None:
        """The age of the oldest event that waits, also before its checkpoint; None: none waits, or nobody can tell."""
        lag = self.measures.lag
        ages = [
            lag.delay_seconds if lag.oldest_at else None,
            self.waits.delay_seconds if self.waits else None,
        ]
        return max((age for age in ages if age is not None), default=None)

    @property
    def spark(self) -> str:
        return draw_spark(self.measures.samples, self.measures.lag)

    @property
    def seconds_left(self) -> float | None:
        """None: it does not move, or nobody can tell."""
        return self.measures.seconds_left if self.is_moving else None

    @property
    def is_moving(self) -> bool:
        state, State = self.projection.state, Projection.State
        is_worked_on = state == State.REBUILDING or (state == State.RUNNING and self.is_consumed)
        return is_worked_on and not self.projection.block

    @property
    def open_count(self) -> int:
        return self.letters.get("failed", 0)

    @property
    def parked_count(self) -> int:
        return self.letters.get("parked", 0)

    @property
    def sample(self) -> Sample:
        lag = self.measures.lag
        return Sample(timezone.now(), lag.head, self.projection.position, lag.events)


def list_rows(since: timedelta = TREND_WINDOW) -> list[Row]:
    """Every projection, those that need somebody first, with its samples since then."""
    projections = list(Projection.objects.defer("stacktrace", "tries"))
    if not projections:
        return []
    measures, consumed, runs, waits = get_measures(since), list_consumed(), list_runs(), list_waits()
    letters = count_open([p.name for p in projections], source=NATIVE)
    rows = []
    for p in projections:
        measured, is_consumed = measures.get(p.pk, NOTHING), p.name in consumed
        run, waiting, open_letters = runs.get(p.name), waits.get(p.pk), letters.get(p.name, {})
        reason = explain(p, measured, is_consumed=is_consumed, run=run, waits=waiting, letters=open_letters)
        rows.append(Row(p, measured, reason, run, is_consumed, open_letters, waiting))
    return sorted(rows, key=lambda row: (row.reason.rank, row.projection.name))


NOTHING = Measures(Lag(0, 0, None), Rates(), [])


def get_row(projection: Projection) -> Row:
    return next(row for row in list_rows() if row.projection.pk == projection.pk)


def list_waits() -> dict[int, Waits]:
    """Of each projection with events that wait for a breaker: which one, how many, and since when."""
    # The oldest is the one with the lowest position: they are given out as events are recorded.
    breakers = Count("breaker", distinct=True, filter=~Q(breaker=""))
    found = WaitingEvent.objects.values_list("projection_id").annotate(
        Max("breaker"), Count("pk"), Min("position"), breakers=breakers
    )
    waits = list(found)
    positions = {position for _, _, _, position, _ in waits}
    ages = dict(Event.objects.filter(pk__in=positions).values_list("pk", "recorded_at")) if positions else {}
    return {
        pk: Waits(breaker, number, ages.get(position), breakers)
        for pk, breaker, number, position, breakers in waits
    }


def list_consumed() -> set[str]:
    """The projections for which a living process consumes."""
    alive = (beat for beat in list_heartbeats(Heartbeat.Kind.CONSUMER) if not is_silent(beat))
    return {name for beat in alive for name in beat.facts.get("projections", ())}


def list_runs() -> dict[str, Run]:
    """The active rebuild or reset of each projection that has one, by name."""
    active = Run.objects.filter(kind__in=["rebuild", "reset"]).exclude(state__in=Run.ENDED)
    return {run.options["projection"]: run for run in active.order_by("pk")}


def list_paces(projection: Projection) -> list[Pace]:
    since = timezone.now() - CHART_WINDOW
    return list(projection.paces.filter(starts_at__gt=since).order_by("starts_at"))


def find_payload(projection: Projection, event: StoredEvent) -> Any:
    """What the handler gets of an event: somebody may have put another payload in its place."""
    event_id = str(event.event_id)
    override = find_overrides(projection.name, [event_id], source=NATIVE).get(event_id)
    return override.payload if override and override.kind == Override.Kind.REPLACED else event.data


def list_history(projection: Projection) -> list[AuditEntry]:
    entries = AuditEntry.objects.filter(subject=projection.name, action__startswith="projection.")
    return list(entries.order_by("-at", "-id")[:HISTORY_SIZE])


def find_pause(projection: Projection) -> AuditEntry | None:
    """Who paused it, when and why; None if it is not paused, or the audit trail does not have it."""
    if projection.state != Projection.State.PAUSED:
        return None
    changes = AuditEntry.objects.filter(
        subject=projection.name,
        action__in=["projection.pause", "projection.resume"],
        outcome=AuditEntry.Outcome.SUCCEEDED,
    )
    last = changes.order_by("-at", "-id").first()
    return last if last and last.action == "projection.pause" else None


def list_skips(projection_id: int | None = None) -> QuerySet[Skip]:
    skips = Skip.objects.select_related("projection").defer("stacktrace")
    return skips.filter(projection=projection_id) if projection_id else skips


def list_requests() -> QuerySet[RebuildRequest]:
    return RebuildRequest.objects.select_related("projection", "run")


def count_open_requests() -> int:
    return RebuildRequest.objects.filter(state="open", expires_at__gt=timezone.now()).count()


@dataclass(frozen=True)
class RebuildPreview:
    """What a rebuild will touch; `handled` is how many of the events are of its types."""

    events: int
    handled: int
    seconds: float
    # False: it was never rebuilt, and the pace is a guess.
    is_measured: bool
    letters: int
    overrides: int


def preview_rebuild(projection: Projection) -> RebuildPreview:
    head, tail = get_head(), get_tail()
    events = head - tail
    handled = count_seen(projection.event_types, head) - count_seen(projection.event_types, tail)
    earlier = Lane.objects.filter(run__kind="rebuild", run__options__projection=projection.name, rate__gt=0)
    rate = earlier.order_by("-run_id").values_list("rate", flat=True).first()
    letters = sum(count_open([projection.name], source=NATIVE).get(projection.name, {}).values())
    overrides = count_overrides(projection.name, source=NATIVE)
    return RebuildPreview(
        events, handled, events / (rate or MODEST_RATE), rate is not None, letters, overrides
    )


def preview_reset(projection: Projection, position: int) -> tuple[int, int]:
    """How many events of its types a reset to the position would handle again, and how many it would leave out."""
    seen = [count_seen(projection.event_types, at) for at in (projection.position, position)]
    return max(seen[0] - seen[1], 0), max(seen[1] - seen[0], 0)
