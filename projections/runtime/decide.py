"""From an error to what becomes of the event."""

import logging
from dataclasses import dataclass

from django.db import DatabaseError

from breakers.api import BreakerOpen
from dlq.api import classify_error
from projections.decisions import DeadLetter, Decision, FailureContext, Fatal, Retry, Skip
from projections.definition import Projector
from projections.models import Criticality
from projections.runtime.hand import Hand
from projections.store import StoredEvent

logger = logging.getLogger("projections.consume")

# A breaker that somebody holds open with no end is asked again after this long.
HELD_BREAKER_SECONDS = 30.0
# An outage is asked about this often, for as long as it lasts.
OUTAGE_SECONDS = 5.0


@dataclass(frozen=True)
class Wait:
    """Try again after so many seconds; `block` is the projection's word for why."""

    seconds: float
    block: str


@dataclass(frozen=True)
class Refused:
    """An open breaker refused the call: the event waits, and nothing has failed."""

    breaker: str
    seconds: float


Fate = Fatal | DeadLetter | Skip | Wait | Refused


def decide(projector: Projector, hand: Hand, event: StoredEvent, error: BaseException, attempt: int) -> Fate:
    if isinstance(error, BreakerOpen):
        return Refused(error.name, HELD_BREAKER_SECONDS if error.retry_after is None else error.retry_after)
    category = classify_error(projector.name, event.type, find_cause(error))
    if category == "infrastructure":
        return Wait(OUTAGE_SECONDS, "infrastructure")
    context = FailureContext(projector.name, event, error, category, attempt, event.position)
    decision = ask_policy(projector, context)
    fate: Fate
    if isinstance(decision, Retry):
        wait = decision.find_wait(attempt)
        fate = decision.then if wait is None else Wait(wait, "retry")
    else:
        fate = decision
    # A rebuild must come to its end: what would stop live consumption becomes a letter there.
    if isinstance(fate, Fatal) and hand.is_rebuild:
        fate = DeadLetter()
    logger.warning(
        "projection=%s event=%s type=%s stream=%s position=%s attempt=%s category=%s decision=%r",
        *(projector.name, event.event_id, event.type, event.stream, event.position, attempt, category, fate),
        exc_info=error,
    )
    return fate


def find_cause(error: BaseException) -> BaseException:
    """Django calls a deadlock and a lost server by one name; the driver's own error tells them apart."""
    return error.__cause__ if isinstance(error, DatabaseError) and error.__cause__ else error


def ask_policy(projector: Projector, context: FailureContext) -> Decision:
    """The policy's decision; a policy that breaks, or skips an event of a ledger, stops the projection."""
    try:
        decision = projector.policy(context)
    except Exception:
        logger.exception("projection=%s: its policy failed; it stops", projector.name)
        return Fatal()
    if isinstance(decision, Skip) and projector.criticality == Criticality.LEDGER:
        logger.error("projection=%s: its policy skips, which a ledger may not; it stops", projector.name)
        return Fatal()
    return decision
