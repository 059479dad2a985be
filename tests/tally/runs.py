"""A run that makes marks, a few a slice; its options say how fast, and where it misbehaves."""

import os
import signal
import time

from dashboard.runs import kinds
from dashboard.runs.kinds import DONE, MORE, Outcome, Step
from dashboard.runs.lanes import Hold
from tests.tally.models import Mark


class Tally:
    name = "tally"
    outcomes = (Outcome("marked", "marked", "good"), Outcome("odd", "odd ones", "warn"))

    def work(self, hold: Hold) -> Step:
        options = hold.run.options
        if options.get("raise"):
            raise RuntimeError("this tally is broken")
        if options.get("raise_after_recording"):
            with hold.recording():
                pass
            raise RuntimeError("this tally is broken")
        with hold.recording() as lane:
            first = lane.done_count
            numbers = range(first, min(first + options.get("slice", 5), lane.total))
            Mark.objects.bulk_create(Mark(run_id=hold.run.pk, lane=lane.number, number=n) for n in numbers)
            time.sleep(options.get("sleep", 0))
            if options.get("die_at") in numbers and lane.epoch == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            lane.count("odd", sum(n % 2 for n in numbers))
            lane.count("marked", sum(n % 2 == 0 for n in numbers))
        return DONE if lane.done_count >= lane.total else MORE


kinds.register(Tally())
