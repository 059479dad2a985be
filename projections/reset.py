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
    outcomes: tuple[Outcome, ...] = (
        Outcome("set", "checkpoint set", "good"),
        Outcome("passed", "left alone, since it had come past", "warn"),
    )

    def work(self, hold: Hold) -> Step:
        projector = get_projector(hold.run)
        with hold.recording() as lane:
            if not lane.done_count:
                # Nobody consumes while this transaction has the lock: that is the pause.
                lock_consumer(projector.name)
                row, position = get_row(projector), hold.run.options["position"]
                if row.position > position and not hold.run.options["is_back"]:
                    # It went on until now: what it has handled since is not to be handled twice.
                    lane.count("passed")
                    return DONE
                state = State.PAUSED if row.state == State.PAUSED else State.RUNNING
                set_checkpoint(row, position, state=state)
                lane.count("set")
        return DONE
