"""Pace: letters are allotted from the run's row, so that all lanes together keep to it; failures halve it for a while.

The row says until when letters are allotted. A lane takes a quarter of a second's worth and moves that time on; when it
lies ahead, the lane waits. One that dies with its allotment has slowed the run by a quarter of a second.
"""

import time
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from dashboard.models import Run
from dlq.replay.options import ReplayOptions
from dlq.replay.outcomes import Results

# Without a pace: more than a slice ever takes.
UNLIMITED = 1000
ALLOTMENT_SECONDS = 0.25
# A shorter wait is slept through by the worker; for a longer one it gives the lane back.
MOST_SLEEP_SECONDS = 1.0
# Halved at most so often; then raised again by a tenth a slice.
SLOWEST = 1 / 16
RECOVERY = 1.1


def allot(run: Run, options: ReplayOptions, most: int) -> int | datetime:
    """How many letters this slice may take now, of the most that it can take, or when to ask again."""
    if not options.pace:
        return UNLIMITED
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run.pk)
        now = timezone.now()
        pace = run.options.get("pace_now", options.pace)
        free_at = max(now, datetime.fromisoformat(run.options.get("allotted_to", now.isoformat())))
        if free_at - now > timedelta(seconds=MOST_SLEEP_SECONDS):
            return free_at
        number = min(most, max(1, int(pace * ALLOTMENT_SECONDS)))
        run.options["allotted_to"] = (free_at + timedelta(seconds=number / pace)).isoformat()
        run.save(update_fields=["options"])
    time.sleep((free_at - now).total_seconds())
    return number


def charge(run: Run, options: ReplayOptions, number: int) -> None:
    """The slice takes so many more than it was allotted: those that follow wait for them too."""
    if not options.pace or number <= 0:
        return
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run.pk)
        pace = run.options.get("pace_now", options.pace)
        allotted_to = datetime.fromisoformat(run.options["allotted_to"])
        run.options["allotted_to"] = (allotted_to + timedelta(seconds=number / pace)).isoformat()
        run.save(update_fields=["options"])


def adjust(run: Run, options: ReplayOptions, results: Results) -> None:
    """Halve the pace after failures, and recover slowly."""
    if not options.pace:
        return
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run.pk)
        before = run.options.get("pace_now", options.pace)
        if results.failed_count:
            after = max(before / 2, options.pace * SLOWEST)
        else:
            after = min(before * RECOVERY, options.pace)
        if after != before:
            run.options["pace_now"] = after
            run.save(update_fields=["options"])
