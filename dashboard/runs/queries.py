"""Where the runs' figures come from: lanes carry the totals, so a run costs one small query whatever its size."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone

from dashboard.attention import Need
from dashboard.models import Lane, Run, RunEvent
from dashboard.runs.kinds import REST, Rest, find_kind, get_rest
from dashboard.words import clause, say_ago

MOST_COUNTED = 1_000
KEPT = "It keeps its place until somebody resumes or cancels it."
PAUSED = (Run.State.PAUSING, Run.State.PAUSED)
# Troubled runs of a kind that are named one by one.
SHOWN_TROUBLED = 3
# What an outcome of these colours means, somebody has to look at.
TROUBLED_TONES = {"bad", "warn", "poison"}
# The width of a full meter, in the units of its SVG.
METER_WIDTH = 1000


@dataclass(frozen=True)
class Part:
    """One colour of a run's meter."""

    label: str
    tone: str
    count: int
    x: float
    width: float


@dataclass(frozen=True)
class Progress:
    """How far a run is; `seconds_left` is None when nobody can tell."""

    run: Run
    total: int
    done_count: int
    # Dealt with, but nobody knows what came of it.
    open_count: int
    parts: list[Part]
    rate: float
    seconds_left: float | None
    rest: Rest

    @property
    def percent(self) -> int:
        return 100 * self.done_count // self.total if self.total else 0

    @property
    def told(self) -> list[Part]:
        return [part for part in self.parts if part.count]

    @property
    def remarkable(self) -> list[Part]:
        """What a short line names: all but what went well."""
        return [part for part in self.told if part.tone != "good"]

    @property
    def has_good(self) -> bool:
        return any(part.tone == "good" for part in self.told)

    @property
    def done_word(self) -> str:
        """What has failed, or was refused, is not called done."""
        is_refused = bool(self.done_count) and not self.has_good
        return "dealt with" if self.troubles or is_refused else "done"

    @property
    def troubles(self) -> list[Part]:
        """What did not go as it should: failed, or held back."""
        return [part for part in self.told if part.tone in TROUBLED_TONES]

    @property
    def left_count(self) -> int:
        return max(self.total - self.done_count - self.open_count, 0)

    @property
    def left_label(self) -> str:
        is_to_do = self.run.is_active and self.run.state != Run.State.CANCELLING
        return "still to do" if is_to_do else self.rest.label

    @property
    def numbers(self) -> str:
        """What came of it so far, and what is left."""
        left = [f"{self.left_count:,} {self.left_label}"] if self.left_count else []
        return ", ".join([f"{part.count:,} {part.label}" for part in self.told] + left)

    @property
    def standing(self) -> str:
        """What a headline says of it: the state, and the numbers."""
        state = self.run.get_state_display().lower()
        return f"{state}; {self.numbers}" if self.numbers else state


def list_runs(state: str = "", kind: str = "") -> QuerySet[Run]:
    runs = Run.objects.all()
    if state == "active":
        runs = runs.exclude(state__in=Run.ENDED)
    elif state:
        runs = runs.filter(state=state)
    return runs.filter(kind=kind) if kind else runs


def count_active() -> int:
    """How many runs have not ended, up to one more than are counted."""
    return list_runs("active").order_by()[: MOST_COUNTED + 1].count()


def count_paused() -> int:
    """How many of them wait for somebody, up to one more than are counted."""
    return list_runs(Run.State.PAUSED).order_by()[: MOST_COUNTED + 1].count()


def name_count(number: int) -> str:
    return f"over {MOST_COUNTED:,}" if number > MOST_COUNTED else f"{number:,}"


def find_pause(run: Run) -> RunEvent | None:
    """Who or what paused the run, and why; None: it is not paused."""
    if run.state not in PAUSED:
        return None
    return find_pauses([run]).get(run.pk)


def find_pauses(runs: Iterable[Run]) -> dict[int, RunEvent]:
    """The pause of each run that is paused or about to be, by its id, in one query for all."""
    others = RunEvent.objects.filter(run=OuterRef("run")).exclude(state__in=PAUSED).order_by("-id")
    # What is noted while it pauses has that state too; the first of them is the pause.
    pauses = RunEvent.objects.filter(
        run__in=runs, state=Run.State.PAUSING, pk__gt=Coalesce(Subquery(others.values("pk")[:1]), 0)
    )
    return {event.run_id: event for event in pauses.order_by("run", "id").distinct("run")}


def get_progress(runs: Iterable[Run]) -> dict[int, Progress]:
    """The progress of each run, by id, in one query for all."""
    runs = list(runs)
    lanes: dict[int, list[Lane]] = defaultdict(list)
    for lane in Lane.objects.filter(run__in=runs):
        lanes[lane.run_id].append(lane)
    return {run.pk: sum_lanes(run, lanes[run.pk]) for run in runs}


def sum_lanes(run: Run, lanes: list[Lane]) -> Progress:
    total = sum(lane.total for lane in lanes)
    counts: dict[str, int] = defaultdict(int)
    for lane in lanes:
        for name, number in lane.totals.items():
            counts[name] += number
    kind = find_kind(run.kind)
    unknown = {outcome.name for outcome in kind.outcomes if not outcome.is_done} if kind else set()
    ended_count, open_count = sum(counts.values()), sum(counts[name] for name in unknown & counts.keys())
    now = timezone.now()
    # A lane that nobody holds does nothing at the moment, however fast it was.
    rate = sum(lane.rate for lane in lanes if lane.leased_until and lane.leased_until > now)
    goes_on = run.is_active and run.state not in (Run.State.PAUSING, Run.State.CANCELLING)
    seconds_left = (total - ended_count) / rate if rate and goes_on and total > ended_count else None
    return Progress(
        run,
        total,
        done_count=ended_count - open_count,
        open_count=open_count,
        parts=list(draw_parts(run, counts, max(total, ended_count))),
        rate=rate,
        seconds_left=seconds_left,
        rest=find_rest(run, lanes),
    )


def find_rest(run: Run, lanes: list[Lane]) -> Rest:
    """A run that has begun, or may be beginning right now, leaves what its kind says; any other all as it was."""
    may_begin = run.is_active and run.started_at
    return get_rest(run.kind) if may_begin or any(lane.cursor or lane.totals for lane in lanes) else REST


def draw_parts(run: Run, counts: dict[str, int], total: int) -> Iterator[Part]:
    kind = find_kind(run.kind)
    if not kind or not total:
        return
    x = 0.0
    for outcome in kind.outcomes:
        count = counts.get(outcome.name, 0)
        width = METER_WIDTH * count / total
        yield Part(outcome.label, outcome.tone, count, round(x, 2), round(width, 2))
        x += width


def find_troubled_runs() -> Iterator[Need]:
    """Runs that wait for a person: paused by somebody, or broken within the last day."""
    paused = Run.objects.filter(state=Run.State.PAUSED).order_by("-id")
    yield from name_some(paused, "is paused", "are paused", "warn")
    since = timezone.now() - timedelta(days=1)
    failed = Run.objects.filter(state=Run.State.FAILED, ended_at__gt=since).order_by("-id")
    yield from name_some(failed, "broke", "broke", "bad")


def say_pause(pause: RunEvent | None) -> str:
    """Why it is paused, by whom and since when, as its own page says it."""
    note = f"{clause(pause.note)}." if pause and pause.note else KEPT
    return f". {note} Paused by {pause.actor}, {say_ago(pause.at)}." if pause else f". {KEPT}"


def name_some(runs: QuerySet[Run], what: str, many: str, tone: str) -> Iterator[Need]:
    """The newest by name, and one line for the rest."""
    found = list(runs[: SHOWN_TROUBLED + 1])
    shown = found[:SHOWN_TROUBLED]
    pauses = find_pauses(shown) if any(run.state == Run.State.PAUSED for run in shown) else {}
    for run in shown:
        why = f": {clause(run.failure)}." if run.failure else say_pause(pauses.get(run.pk))
        sentence = f"{run.title}{why}"
        yield Need(f"Run {run.pk} {what}", sentence, reverse("runs:run", args=[run.pk]), "See the run", tone)
    if len(found) > SHOWN_TROUBLED:
        url = f"{reverse('runs:runs')}?state={found[0].state}"
        left = runs.order_by()[SHOWN_TROUBLED : SHOWN_TROUBLED + MOST_COUNTED + 1].count()
        headline = f"1 more run {what}" if left == 1 else f"{name_count(left)} more runs {many}".capitalize()
        yield Need(headline, "Only the newest are named here.", url, "See all", tone)
