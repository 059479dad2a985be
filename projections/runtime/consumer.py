"""What one process does for one projection, until it is told to stop."""

import logging
import os
from datetime import timedelta

from django.db import DatabaseError, connection
from django.utils import timezone

from dlq.api import clean_text
from projections.definition import Projector
from projections.models import NATIVE, Projection
from projections.runtime.clock import Clock, SystemClock
from projections.runtime.decide import OUTAGE_SECONDS
from projections.runtime.errors import is_outage
from projections.runtime.hand import LIVE
from projections.runtime.timeouts import HandlerTimeoutError
from projections.runtime.trial import POLL_SECONDS
from projections.runtime.turn import take_turn

logger = logging.getLogger("projections.consume")


def consume(projector: Projector, clock: SystemClock, *, parent: int) -> None:
    """Turn after turn; leaves when told to, or when the process that started it is gone."""
    while not clock.is_stopping and os.getppid() == parent:
        wait = take_turn_safely(projector, clock)
        if wait:
            # Not longer than a poll: an operator's resume or skip is to be noticed.
            clock.sleep(min(wait, POLL_SECONDS))


def take_turn_safely(projector: Projector, clock: Clock) -> float:
    """One turn. What is raised here is no event's fault: it is logged, shown, and tried again for ever."""
    try:
        return take_turn(projector, LIVE, clock)
    except (Exception, HandlerTimeoutError) as error:
        logger.exception("projection=%s: a turn failed; trying again", projector.name)
        note_outage(projector, error)
        clock.sleep(OUTAGE_SECONDS if is_outage(error) else 1.0)
        return POLL_SECONDS


def note_outage(projector: Projector, error: BaseException) -> None:
    """Say on the page what blocks, if the database can still be told."""
    try:
        found = Projection.objects.filter(source=NATIVE, name=projector.name, state=Projection.State.RUNNING)
        found.filter(block="").update(blocked_since=timezone.now())
        found.filter(block__in=["", Projection.Block.INFRASTRUCTURE]).update(
            block=Projection.Block.INFRASTRUCTURE,
            next_at=timezone.now() + timedelta(seconds=1),
            error_type=type(error).__name__,
            error_message=clean_text(error),
        )
    except DatabaseError:
        connection.close()
