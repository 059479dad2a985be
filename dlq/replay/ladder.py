"""The canary ladder, and stopping after failures: who climbs, who pauses, all under the run's own row.

A lane that has nothing left at the run's rung looks at the others. The last one to come climbs, or pauses the run, and
wakes the others; the rest wait. If it dies after climbing, beat sends the others on when their short wait is over.
"""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from dashboard.models import Lane, Run
from dashboard.runs import dispatch, states
from dashboard.runs.kinds import DONE, MORE, Step
from dashboard.runs.lanes import Hold
from dashboard.words import counted
from dlq.models import LetterRunItem
from dlq.replay.options import REST, ReplayOptions
from dlq.replay.outcomes import FAILED, Results

# Beat looks every few seconds; a lane that waits longer than this was forgotten.
WAIT_FOR_OTHERS = timedelta(seconds=2)


def get_rung(run: Run) -> int:
    rung: int = run.options.get("rung", 1 if run.options.get("canary") else REST)
    return rung


def climb(hold: Hold) -> Step:
    """What a lane does that has nothing left at this rung: done, go on, or wait for the others."""
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=hold.run.pk)
        if get_rung(run) > get_rung(hold.run):
            return MORE
        if get_rung(run) == REST:
            return DONE
        if run.state not in Run.WORKABLE:
            # Another lane has paused it since this one looked, and its failures count as seen: it must not climb.
            return MORE
        lowest = min_rung(run)
        if lowest is not None and lowest <= get_rung(run):
            return Step(wait_until=timezone.now() + WAIT_FOR_OTHERS)
        if stop_if_failed(run, at_end_of_rung=True):
            # The next rung is for whoever resumes: a lane that has looked just before would begin it otherwise.
            return MORE
        run.options["rung"] = lowest or REST
        run.save(update_fields=["options"])
        Lane.objects.filter(run=run).exclude(pk=hold.lane_id).update(not_before=None)
    if states.is_workable(run.pk):
        dispatch.dispatch(run)
    return MORE


def min_rung(run: Run) -> int | None:
    """The lowest rung with an item left; None: nothing is left. Each lane's items are in the order of their rungs."""
    firsts = [
        LetterRunItem.objects.filter(run=run, lane=number, is_active=True)
        .order_by("id")
        .values_list("rung", flat=True)
        .first()
        for number in Lane.objects.filter(run=run).values_list("number", flat=True)
    ]
    return min((rung for rung in firsts if rung is not None), default=None)


def watch(run: Run, results: Results) -> None:
    """After a slice: pause the run if too many have failed."""
    if not results.failed_count:
        return
    with transaction.atomic():
        stop_if_failed(Run.objects.select_for_update().get(pk=run.pk))


def stop_if_failed(run: Run, *, at_end_of_rung: bool = False) -> bool:
    """Pause if failures since the last such pause reach the limit; any failure is too many for the first rung."""
    failed = count_failed(run) - run.options.get("forgiven", 0)
    limit = ReplayOptions.of(run).stop_after
    is_first = at_end_of_rung and get_rung(run) == 1
    if not failed or not (is_first or (limit and failed >= limit)):
        return False
    if min_rung(run) is None:
        # Nothing is left that a pause could keep from happening.
        return False
    # Whoever resumes has seen these; the count begins anew.
    run.options["forgiven"] = count_failed(run)
    run.save(update_fields=["options"])
    # Lanes that are at work fail more before they see the pause, and the page would contradict a number.
    reached = f"The limit of {counted(limit or failed, 'failure')} is reached"
    why = f"{failed} failed; it was the first" if is_first else reached
    states.move(run.pk, Run.State.PAUSING, note=f"{why}. Resume to go on, or cancel.")
    return True


def count_failed(run: Run) -> int:
    totals = Lane.objects.filter(run=run).values_list("totals", flat=True)
    return sum(lane.get(name, 0) for lane in totals for name in FAILED)
