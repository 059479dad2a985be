"""The runs that are at work on letters which a page shows, so that it can show them in place."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Q

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
        parts = [f"{part.count:,} {part.label}" for part in self.progress.parts if part.count] or [
            "nothing yet"
        ]
        return f"{self.run.title}: {' · '.join([*parts, f'{self.progress.left_count:,} still to do'])}"


@dataclass(frozen=True)
class LiveRuns:
    """The newest of them, and which letter is in which run."""

    runs: list[LiveRun] = field(default_factory=list)
    by_letter: dict[int, int] = field(default_factory=dict)


def find_live_runs(letter_ids: Iterable[int], group: FailureGroup | None = None) -> LiveRuns:
    active = LetterRunItem.objects.filter(is_active=True, letter__in=list(letter_ids))
    by_letter = {pk: run_id for pk, run_id in active.values_list("letter_id", "run_id") if pk}
    wanted = Q(pk__in=set(by_letter.values()))
    if group:
        wanted |= Q(options__selection__group=group.pk)
    runs = list(Run.objects.filter(wanted).exclude(state__in=Run.ENDED).order_by("-pk")[:SHOWN])
    progress = get_progress(runs)
    return LiveRuns([LiveRun(run, progress[run.pk]) for run in runs], by_letter)


def find_group_runs(group: FailureGroup) -> LiveRuns:
    newest = DeadLetter.objects.open().filter(group=group).order_by("-last_failed_at", "-pk")
    return find_live_runs(newest.values_list("pk", flat=True)[:LOOKED_AT], group)
