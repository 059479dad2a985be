"""Taking back a checkpoint that others keep, as a run: the source is asked by a worker and never by a page.

If the worker dies
1. before the source has committed: nothing happened, and it is tried again;
2. after it, before the recording: the next try finds no checkpoint, which is what was wanted, and records that.
"""

from dataclasses import dataclass
from typing import Any

from dashboard.models import AuditEntry, Run
from dashboard.runs.kinds import DONE, Outcome, Step
from dashboard.runs.lanes import Hold
from projections.foreign.watch import UNDONE, start_watch
from projections.models import ForeignProjection
from sources.api import ResetRefusedError, SourceError, find_source


class ForeignReset:
    name = "foreign-reset"
    outcomes: tuple[Outcome, ...] = (
        Outcome("reset", "checkpoint reset", "good"),
        Outcome("refused", "refused, nothing was changed", "warn"),
    )

    def work(self, hold: Hold) -> Step:
        row = ForeignProjection.objects.get(pk=hold.run.options["foreign"])
        # What was confirmed, not what has been read since.
        row.stamp = hold.run.options["stamp"]
        try:
            was_stopped = reset_there(row)
        except ResetRefusedError as error:
            with hold.recording() as lane:
                lane.count("refused")
                lane.cursor = {"refusal": str(error)}
            return DONE
        with hold.recording() as lane:
            lane.count("reset")
            watch = start_watch(row, run_id=hold.run.pk, was_stopped=was_stopped)
            ForeignProjection.objects.filter(pk=row.pk).update(reset=watch)
        return DONE


def reset_there(row: ForeignProjection) -> bool:
    """Whether it is certain that nobody worked meanwhile; a source that is away raises, and it is tried again."""
    source = find_source(row.source)
    if source is None:
        raise ResetRefusedError(f"No source {row.source} is configured any more.")
    with source.visit() as visit:
        if visit.checkpoints is None:
            raise SourceError(f"{row.source} has no checkpoints.", permanent=True)
        return visit.checkpoints.reset_checkpoint(row.name, stamp=row.stamp)


@dataclass(frozen=True)
class Refused:
    """A reset that changed nothing, and why."""

    run: Run
    reason: str


def find_last_refused(history: list[AuditEntry]) -> Refused | None:
    """The latest reset from here, if it was refused; None: it was not, or there was none."""
    run_id = next((entry.details["run"] for entry in history if "run" in entry.details), 0)
    run = Run.objects.filter(pk=run_id).first()
    reason = find_refusal(run) if run else ""
    return Refused(run, reason) if run and reason else None


def find_refusal(run: Run) -> str:
    return next((lane.cursor["refusal"] for lane in run.lanes.all() if "refusal" in lane.cursor), "")


def describe_reset(run: Run) -> dict[str, Any]:
    """For the run's page: whose checkpoint, why it was refused, what became of it."""
    row = ForeignProjection.objects.filter(pk=run.options["foreign"]).first()
    watched = row.reset if row and row.reset.get("run") == run.pk else {}
    undone = {"afterwards": "but it seems undone", "tone": "warn"} if watched.get("verdict") == UNDONE else {}
    return undone | {"foreign": row, "refusal": find_refusal(run), "watched": watched}
