"""Deliveries that were sent, and what is heard of them later: a result, a call back, a new failure, or nothing.

1. A send marks its item as sent (`mark_sent`); the item stays active, and what follows in its sequence waits.
2. Each turn of the lane looks for what has been heard (`settle`), and ends those items under the lane's lock. A call
   back only writes a row and wakes the lane, so that there is one writer of what became of an item.
3. What nobody confirmed within the target's time ends as unconfirmed: the letter stays open, its followers are held.
If the worker dies before 2 commits, the same is found again by the next. A call back that comes after the run has
ended is settled at once (`settle_late`), under the lock of the lane that had sent it.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.utils import timezone

from dashboard.models import Lane, Run
from dashboard.runs import dispatch
from dashboard.runs.kinds import MORE, Step
from dashboard.runs.lanes import Hold
from dlq.models import Confirmation, LetterRunItem
from dlq.models.words import UNSETTLED
from dlq.recording import Failure, add_common
from dlq.replay.delivery import make_delivery
from dlq.replay.outcomes import (
    COUNT_REPLAYS,
    NEW,
    SAME,
    SENT,
    UNCONFIRMED,
    Ending,
    Results,
    describe_failure,
    execute,
)
from dlq.replay.rows import Row, lock_rows, read_rows
from dlq.replay.took import Took
from dlq.targets import Answer, ConfirmingTarget, Refusal, find_target, get_confirmation_time
from dlq.targets.source import SourceTarget

logger = logging.getLogger(__name__)

# So many are settled, and so many results are asked for, in one turn.
MOST_SETTLED = 500
# A lane that has just sent something is asked again at once; one that has not waits for beat, or for a call back.
LIVELY = timedelta(seconds=2)
LIVELY_SECONDS = 0.1
WAIT = timedelta(seconds=2)

MARK_SENT = """
UPDATE dlq_letterrunitem SET outcome = 'sent', at = %s, group_id = %s WHERE id = %s
"""

# An item that was sent, with what may have been heard of it.
SENT_ITEMS = """
SELECT i.id, l.source, l.consumer, i.at, i.group_id, l.last_failed_at > i.at, c.outcome, c.error_type,
    c.error_message, c.stacktrace
FROM dlq_letterrunitem i JOIN dlq_deadletter l ON l.id = i.letter_id
LEFT JOIN dlq_confirmation c ON c.item_id = i.id
"""
# Those of a lane that called back come first, then those that were asked about longest ago.
LIST_SENT = f"""{SENT_ITEMS}
WHERE i.run_id = %s AND i.lane = %s AND i.is_active AND i.outcome = 'sent'
ORDER BY c.item_id IS NULL, i.id > %s DESC, i.id LIMIT %s
"""
LIST_AGAIN = f"{SENT_ITEMS} WHERE i.id = ANY(%s) AND i.is_active AND i.outcome = 'sent'"
FIND_LATE = f"{SENT_ITEMS} WHERE i.id = %s AND c.item_id IS NOT NULL AND l.status IN ('failed', 'parked')"
FIND_NEWEST = """
SELECT max(at) FROM dlq_letterrunitem WHERE run_id = %s AND lane = %s AND is_active AND outcome = 'sent'
"""

Heard = Answer | Refusal


class Sent(NamedTuple):
    """An item that was sent, and what has been heard of it by itself."""

    item_id: int
    source: str
    consumer: str
    at: datetime
    # The group of its letter when it was sent.
    group_id: int | None
    # Somebody reported a failure of its event since.
    has_failed: bool
    outcome: str | None
    error_type: str | None
    error_message: str | None
    stacktrace: str | None

    @property
    def called_back(self) -> Heard | None:
        if self.outcome is None:
            return None
        if self.outcome == Confirmation.Outcome.SUCCEEDED:
            return Answer.DONE
        return Refusal(self.error_type or "", self.error_message or "", self.stacktrace or "")


def mark_sent(row: Row, lane: Lane, took: Took) -> None:
    """In the transaction that records the send; a failure counts from when it began, for some consumers are quick."""
    with connection.cursor() as cursor:
        cursor.execute(MARK_SENT, [took.began_at, row.group_id, row.item_id])
    lane.count(SENT.name)


def settle(hold: Hold) -> Results:
    """End what has been heard of, or has waited too long."""
    asked_to = Lane.objects.values_list("cursor", flat=True).get(pk=hold.lane_id).get("asked_to", 0)
    waiting = fetch(LIST_SENT, [hold.run.pk, hold.number, asked_to, MOST_SETTLED])
    if not waiting:
        return Results()
    heard = ask_targets(waiting)
    results = Results()
    with hold.recording() as lane:
        lane.cursor["asked_to"] = waiting[-1].item_id
        # Once more under the lock: somebody may have called back meanwhile.
        end(hold.run, lane, fetch(LIST_AGAIN, [list(heard)]), heard, results)
    return results


def end(
    run: Run, lane: Lane, waiting: list[Sent], heard: Mapping[int, Heard | None], results: Results
) -> None:
    """The caller's transaction has the lane's lock."""
    by_item = {sent.item_id: sent for sent in waiting}
    said = {sent.item_id: sent.called_back or heard.get(sent.item_id) for sent in waiting}
    refused = {item_id: word for item_id, word in said.items() if isinstance(word, Refusal)}
    # Before the letters are locked, as whoever reports the same failures does.
    add_common(describe_refusal(row, refused[row.item_id], run) for row in read_rows(list(refused)))
    for row in lock_rows(list(by_item)):
        judge(run, row, by_item[row.item_id], said[row.item_id], results)
    # Those that failed elsewhere are on record already, but not that it was a replay that failed.
    failed = [ending.row.letter_id for ending in results.endings if ending.outcome in (SAME, NEW)]
    execute(COUNT_REPLAYS, {"ids": failed, "limit": settings.POISON_AFTER_REPLAYS})
    results.save_letters(run)
    results.end_items(lane)
    lane.count(SENT.name, -len(results.endings))


def judge(run: Run, row: Row, sent: Sent, heard: Heard | None, results: Results) -> None:
    """One item: what was said of it counts first, then that it failed anew, then that somebody closed it, then time."""
    if row.is_closed_at_source and heard is Answer.DONE:
        # The source was asked, and did it; its letter followed it.
        results.succeed(row)
    elif row.is_closed_at_source and heard is None and is_left_to_source(row) and not is_overdue(sent):
        # Its source has done it since it was asked; the next turn hears of it.
        return
    elif row.status not in UNSETTLED:
        results.skip(row, f"{row.status} meanwhile")
    elif heard is Answer.DONE:
        results.succeed(row)
    elif isinstance(heard, Refusal):
        # Told apart from what it had failed with when it was sent; the same may have been reported since.
        results.failures.append((row._replace(group_id=sent.group_id), describe_refusal(row, heard, run)))
    elif sent.has_failed or heard is Answer.FAILED:
        outcome = SAME if row.group_id == sent.group_id else NEW
        results.endings.append(Ending(row, outcome, group_id=row.group_id))
    elif is_overdue(sent):
        results.endings.append(Ending(row, UNCONFIRMED, "nobody has confirmed it in time"))


def is_left_to_source(row: Row) -> bool:
    return isinstance(find_target(row.source, row.consumer), SourceTarget)


def describe_refusal(row: Row, refusal: Refusal, run: Run) -> Failure:
    delivery = make_delivery(row)
    # With what was sent, so that its masked values can be taken out of the message.
    known = describe_failure(row, Exception(), delivery and delivery.body, Took(timezone.now(), 0), run)
    said = asdict(refusal)
    return replace(known, error=None, duration_ms=None, **said)


def is_overdue(sent: Sent) -> bool:
    within = get_confirmation_time(find_target(sent.source, sent.consumer))
    # A target that no longer confirms anything will not confirm this either.
    return within is None or timezone.now() - sent.at > timedelta(seconds=within)


def ask_targets(waiting: list[Sent]) -> dict[int, Heard | None]:
    """What targets say that can be asked; None: nothing yet."""
    heard: dict[int, Heard | None] = {sent.item_id: None for sent in waiting}
    silent = defaultdict(list)
    for sent in waiting:
        if sent.outcome is None:
            silent[sent.source, sent.consumer].append(sent.item_id)
    for (source, consumer), item_ids in silent.items():
        target = find_target(source, consumer)
        if isinstance(target, ConfirmingTarget):
            try:
                heard |= target.ask(item_ids)
            except Exception as error:
                # Whatever library a result backend needs: its trouble says nothing about the events.
                logger.warning("%s does not say what became of %s items: %s", consumer, len(item_ids), error)
    return heard


def fetch(statement: str, values: list[Any]) -> list[Sent]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [Sent(*row) for row in cursor.fetchall()]


def wait(hold: Hold) -> Step | None:
    """How a lane waits that has nothing to send until something is confirmed; None: nothing is on its way."""
    with connection.cursor() as cursor:
        cursor.execute(FIND_NEWEST, [hold.run.pk, hold.number])
        newest = cursor.fetchone()[0]
    if newest is None:
        return None
    if timezone.now() - newest > LIVELY:
        return Step(wait_until=timezone.now() + WAIT)
    time.sleep(LIVELY_SECONDS)
    return MORE


def wake(item: LetterRunItem) -> None:
    """Somebody called back: the lane need not wait any longer; without Redis, beat sends it on."""
    lanes = Lane.objects.filter(run_id=item.run_id, number=item.lane, is_done=False)
    if lanes.update(not_before=None):
        dispatch.send_lane(item.run, item.lane, lanes.values_list("epoch", flat=True)[0])


def settle_late(item: LetterRunItem, lane: Lane) -> None:
    """A call back about an item that has ended: better known late than never; the caller has locked its lane."""
    found, was, results = fetch(FIND_LATE, [item.pk]), item.outcome, Results()
    if was not in (SENT.name, UNCONFIRMED.name) or not found or found[0].has_failed:
        return
    end(lane.run, lane, found, {}, results)
    if was == UNCONFIRMED.name:
        lane.count(UNCONFIRMED.name, -1)
        lane.count(SENT.name)
    lane.save(update_fields=["totals"])
