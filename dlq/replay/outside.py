"""Sending letters to a target outside, one at a time, each answer recorded before the next is sent.

1. Under the lane's lock: may it be sent now? Who is ahead of it, is it still open? Commit; this renews the lease.
2. If the lease lasts longer than the request may take, send it. No transaction is open.
3. Under the lane's lock: record the answer.
If the worker dies before 2: nothing was sent. In 2 or before 3 commits: it may have been sent, and is sent again by the
next worker, with the same idempotency key; at least once is all that can be promised. A worker that stalls past its
lease finds in 2 that the time is over, and in 3 that the lane is another's: it sends and records nothing.
"""

import json
import time
from datetime import timedelta
from hashlib import sha256

from django.utils import timezone

from breakers.api import BreakerOpen
from dashboard.runs.lanes import Hold, LaneLostError
from dlq.models import DeadLetter, LetterBody, Override
from dlq.overrides import find_overrides
from dlq.replay.outcomes import SENT, SUCCEEDED, Ending, Results
from dlq.replay.playing import hold_back, until_breaker
from dlq.replay.rows import Ahead, Row, lock_rows
from dlq.replay.trial import MOST_DEATHS, Trial, clear
from dlq.replay.watch import NoWatch, Watch
from dlq.targets import Answer, Delivery, Target, TargetError
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
        return record(hold, row, delivery, error, 0)
    if hold.remaining_seconds <= target.timeout_seconds:
        raise LaneLostError(f"run {hold.run.pk} lane {hold.number}: too late to send anything")
    began = time.monotonic()
    with Watch() if trial.is_watched else NoWatch() as watch, watch.trying(row.item_id):
        answer = deliver(target, delivery)
    return record(hold, row, delivery, answer, round(1000 * (time.monotonic() - began)))


def prepare(hold: Hold, trial: Trial) -> tuple[Results, Delivery | None, Row | None]:
    """The item's delivery; None if it must not be sent, which is then recorded."""
    results = Results()
    with hold.recording() as lane:
        [row] = lock_rows(trial.item_ids)
        if row.status not in ("failed", "parked"):
            results.skip(row, f"{row.status} meanwhile")
        elif row.is_erased:
            results.skip(row, "its payload was erased")
        elif not hold_back(row, Ahead([row]), results):
            delivery = make_delivery(row)
            if delivery is not None:
                return results, delivery, row
            results.skip(row, "it has no stored payload")
        results.end_items(lane)
        clear(lane)
    return results, None, None


def make_delivery(row: Row) -> Delivery | None:
    """The event as it came, or as somebody replaced it; None: there is nothing to send."""
    body = LetterBody.objects.get(letter=row.letter_id)
    override = find_overrides(row.consumer, [row.event_id], source=row.source).get(row.event_id)
    is_replaced = override is not None and override.kind == Override.Kind.REPLACED
    if override is not None and is_replaced:
        content = json.dumps(override.payload).encode()
    elif body.payload_raw is not None:
        content = bytes(body.payload_raw)
    elif body.payload is not None:
        content = json.dumps(body.payload).encode()
    else:
        return None
    # It rises when a replay has ended, so it is the same for every try within a run.
    generation = DeadLetter.objects.values_list("replays", flat=True).get(pk=row.letter_id)
    parts = (row.consumer, row.event_id, sha256(content).hexdigest(), str(generation))
    return Delivery(
        letter_id=row.letter_id,
        is_replaced=is_replaced,
        source=row.source,
        consumer=row.consumer,
        event_id=row.event_id,
        event_type=row.event_type,
        sequence_key=row.sequence_key,
        body=content,
        headers=body.headers,
        idempotency_key=sha256("\0".join(parts).encode()).hexdigest(),
    )


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
    hold: Hold, row: Row, delivery: Delivery, answer: Answer | BaseException, duration_ms: int
) -> Results:
    results = Results()
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
            results.fail(row, answer, payload=payload, duration_ms=duration_ms, run=hold.run)
        else:
            results.endings.append(Ending(row, SUCCEEDED if answer is Answer.DONE else SENT))
        results.save_letters(hold.run)
        results.end_items(lane)
    return results
