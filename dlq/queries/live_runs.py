"""The runs that are at work on letters which a page shows, so that it can show them in place."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import BooleanField, Q, QuerySet
from django.db.models.expressions import RawSQL

from dashboard.models import Run
from dashboard.runs.queries import Progress, get_progress
from dlq.models import DeadLetter, FailureGroup, LetterRunItem

# So many of a group's open letters are looked at; a run over the group as a whole is found by its name.
LOOKED_AT = 200
SHOWN = 3


@dataclass(frozen=True)
class LiveRun:
    run: Run
    progress: Progress

    @property
    def sentence(self) -> str:
        return f"{self.run.title}: {self.progress.numbers}"


@dataclass(frozen=True)
class LiveRuns:
    """The newest of them, and which letter is in which run."""

    runs: list[LiveRun] = field(default_factory=list)
    by_letter: dict[int, int] = field(default_factory=dict)


def find_live_runs(letter_ids: Iterable[int]) -> LiveRuns:
    # As one array: fifty parameters take longer than the query.
    here = RawSQL("letter_id = ANY(%s)", [list(letter_ids)], BooleanField())
    return show_runs(LetterRunItem.objects.filter(here))


def find_group_runs(group: FailureGroup) -> LiveRuns:
    newest = DeadLetter.objects.open().filter(group=group).order_by("-last_failed_at", "-pk")
    return show_runs(LetterRunItem.objects.filter(letter__in=newest.values("pk")[:LOOKED_AT]), group)


def show_runs(items: QuerySet[LetterRunItem], group: FailureGroup | None = None) -> LiveRuns:
    active = items.filter(is_active=True).values_list("letter_id", "run_id")
    by_letter = {pk: run_id for pk, run_id in active if pk}
    if not by_letter and group is None:
        return LiveRuns()
    wanted = Q(pk__in=set(by_letter.values()))
    if group:
        wanted |= Q(options__selection__group=group.pk)
    runs = list(Run.objects.filter(wanted).exclude(state__in=Run.ENDED).order_by("-pk")[:SHOWN])
    progress = get_progress(runs)
    return LiveRuns([LiveRun(run, progress[run.pk]) for run in runs], by_letter)
