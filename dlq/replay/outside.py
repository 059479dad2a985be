"""Sending letters to a target outside, one at a time, each answer recorded before the next is sent.

1. Under the lane's lock: may it be sent now? Who is ahead of it, is it still open? Commit; this renews the lease.
2. If the lease lasts longer than the request may take, send it; that is asked when the connection stands, as the last
   thing before the event goes out. No transaction is open.
3. Under the lane's lock: record the answer.
If the worker dies before 2: nothing was sent. In 2 or before 3 commits: it may have been sent, and is sent again by the
next worker, with the same idempotency key; at least once is all that can be promised. A worker that stalls past its
lease finds in 2 that the time is over, and in 3 that the lane is another's: it sends and records nothing. One that
stalls in the instant between that question and the send does send once more, with the same key.
"""

import time
from dataclasses import replace
from datetime import timedelta

from django.utils import timezone

from breakers.api import BreakerOpen
from dashboard.runs.lanes import Hold, LaneLostError
from dlq.models.words import UNSETTLED
from dlq.replay import confirming
from dlq.replay.delivery import make_delivery
from dlq.replay.outcomes import SENT, Ending, Results
from dlq.replay.playing import hold_back, until_breaker
from dlq.replay.rows import Ahead, Row, lock_rows
from dlq.replay.took import Stopwatch, Took
from dlq.replay.trial import MOST_DEATHS, Trial, clear
from dlq.replay.watch import NoWatch, Watch
from dlq.targets import Answer, Delivery, Target, TargetError, TooLateError, get_confirmation_time
from projections.api import Alarm, HandlerTimeoutError

# A target that asks for patience so often in a row has refused.
MOST_WAITS = 3


def play(hold: Hold, target: Target, trial: Trial) -> Results:
    results, delivery, row = prepare(hold, trial)
    if delivery is None or row is None:
        return results
    if trial.is_deadly:
        error: BaseException = TargetError(
            f"The worker died {MOST_DEATHS} times while it sent this.", permanent=True
        )
        return record(hold, target, row, delivery, error, Took(timezone.now(), 0))
    stopwatch = Stopwatch()
    last_moment = time.monotonic() + hold.remaining_seconds - target.timeout_seconds
    try:
        with Watch() if trial.is_watched else NoWatch() as watch, watch.trying(row.item_id):
            answer = deliver(target, replace(delivery, send_before=last_moment))
    except TooLateError:
        raise LaneLostError(f"run {hold.run.pk} lane {hold.number}: too late to send anything") from None
    return record(hold, target, row, delivery, answer, stopwatch.stop())


def prepare(hold: Hold, trial: Trial) -> tuple[Results, Delivery | None, Row | None]:
    """The item's delivery; None if it must not be sent, which is then recorded."""
    results = Results()
    with hold.recording() as lane:
        [row] = lock_rows(trial.item_ids)
        if row.status not in UNSETTLED:
            results.skip(row, f"{row.status} meanwhile")
        elif row.is_erased:
            results.skip(row, "erased")
        elif not hold_back(row, Ahead([row]), results):
            delivery = make_delivery(row)
            if delivery is not None:
                return results, delivery, row
            results.skip(row, "without a stored payload")
        results.end_items(lane)
        clear(lane)
    return results, None, None


def deliver(target: Target, delivery: Delivery) -> Answer | BaseException:
    """The answer, or the error; in bounded time, however slowly the target speaks."""
    try:
        with Alarm(target.timeout_seconds) as alarm:
            alarm.restart()
            return target.deliver(delivery)
    except HandlerTimeoutError:
        return TargetError(f"{target.name} took longer than {target.timeout_seconds:g} s.", permanent=False)
    except (TargetError, BreakerOpen) as error:
        return error


def record(
    hold: Hold,
    target: Target,
    row: Row,
    delivery: Delivery,
    answer: Answer | BaseException,
    took: Took,
) -> Results:
    results = Results()
    # As it was when the run was asked for: its lanes look for confirmations, or they do not.
    is_confirmed = hold.run.options.get("confirms") and get_confirmation_time(target) is not None
    with hold.recording() as lane:
        clear(lane)
        waits = lane.cursor.pop("waits", 0)
        if isinstance(answer, BreakerOpen):
            results.wait_until = until_breaker(answer)
        elif isinstance(answer, TargetError) and answer.retry_after is not None and waits < MOST_WAITS:
            lane.cursor["waits"] = waits + 1
            results.wait_until = timezone.now() + timedelta(seconds=answer.retry_after)
        elif isinstance(answer, BaseException):
            payload = delivery.body
            results.fail(row, answer, payload=payload, took=took, run=hold.run)
        elif answer is Answer.DONE:
            results.succeed(row)
        elif is_confirmed:
            confirming.mark_sent(row, lane, took)
        else:
            results.endings.append(Ending(row, SENT))
        results.save_letters(hold.run)
        results.end_items(lane)
    return results
