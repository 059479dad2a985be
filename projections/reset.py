"""Setting a checkpoint as a run: a single step, done once however often it is tried."""

from dashboard.runs.kinds import DONE, Outcome, Step
from dashboard.runs.lanes import Hold
from projections.checkpoints import set_checkpoint
from projections.models import Projection
from projections.rebuild import get_projector, get_row
from projections.runtime.lock import lock_consumer

State = Projection.State


class Reset:
    name = "reset"
    outcomes: tuple[Outcome, ...] = (Outcome("set", "checkpoint set", "good"),)

    def work(self, hold: Hold) -> Step:
        projector = get_projector(hold.run)
        with hold.recording() as lane:
            if not lane.done_count:
                # Nobody consumes while this transaction has the lock: that is the pause.
                lock_consumer(projector.name)
                row = get_row(projector)
                state = State.PAUSED if row.state == State.PAUSED else State.RUNNING
                set_checkpoint(row, hold.run.options["position"], state=state)
                lane.count("set")
        return DONE
