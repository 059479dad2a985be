"""What a Celery worker does with one lane."""

import logging
import os
import socket
import time

from django.db import connection

from dashboard.models import Run
from dashboard.runs import dispatch, lanes, states
from dashboard.runs.kinds import MORE, Step, get_kind
from dashboard.words import say_error

logger = logging.getLogger(__name__)

# After this long a lane goes to the back of the queue, so that a long run does not starve a short one.
TURN_SECONDS = 10
# A slice that raises this many times in a row will not get better by itself.
MOST_ERRORS = 5


def run_lane(run_id: int, number: int, epoch: int) -> None:
    """Work on a lane for one turn. The message is only a hint: the claim decides."""
    hold = lanes.claim(run_id, number, epoch, holder=f"{socket.gethostname()}:{os.getpid()}")
    if hold is None:
        return
    states.begin(hold.run)
    try:
        step = work_for_a_turn(hold)
    except lanes.LaneLostError as error:
        logger.warning("run %s lane %s: stopped, %s", run_id, number, error)
        return
    except Exception as error:
        if not connection.is_usable():
            # The database is away. The row says what is left to do; beat sends it again.
            connection.close()
            logger.warning("run %s lane %s: stopped, the database is away: %s", run_id, number, error)
            return
        logger.exception("run %s lane %s: a slice failed", run_id, number)
        if lanes.release_after_error(hold) >= MOST_ERRORS:
            states.move(run_id, Run.State.FAILED, note=say_error(error))
        return
    lanes.release(hold, step)
    states.settle(run_id)
    if step == MORE and states.is_workable(run_id):
        dispatch.send_lane(hold.run, number, hold.epoch)


def work_for_a_turn(hold: lanes.Hold) -> Step:
    kind = get_kind(hold.run.kind)
    end_of_turn = time.monotonic() + TURN_SECONDS
    step = MORE
    while step == MORE and time.monotonic() < end_of_turn and states.is_workable(hold.run.pk):
        step = kind.work(hold)
    return step
