"""What each word for a status, in filters and addresses, means to Postgres, and what a list of those letters shows."""

from dataclasses import dataclass

from django.db.models import Q
from django.db.models.expressions import RawSQL

from dlq.models.letter import IS_OPEN
from dlq.models.words import Status, Tier

OPEN, CLOSED, ANY = "open", "closed", "any"
STATUSES = {
    OPEN: IS_OPEN,
    "parked": Q(status=RawSQL("'parked'", ())),
    "resolved": Q(status=Status.RESOLVED),
    "discarded": Q(status=RawSQL("'discarded'", ())),
    CLOSED: Q(status__in=[Status.RESOLVED, Status.DISCARDED]),
    ANY: Q(),
}


@dataclass(frozen=True)
class Shows:
    """What can be among the letters of a list, and how they are called; no word: they have none in common."""

    word: str
    # What is said where there are none.
    empty: str
    open: bool = False
    closed: bool = True


SHOWS = {
    OPEN: Shows("open", "What fails to be handled appears here.", open=True, closed=False),
    "parked": Shows(
        "parked", "What waits for an earlier event of its sequence appears here.", open=True, closed=False
    ),
    "resolved": Shows("resolved", "What was replayed or dealt with elsewhere appears here."),
    "discarded": Shows("discarded", "What was given up, with a reason, appears here."),
    CLOSED: Shows("closed", "What was replayed, resolved or discarded appears here."),
    ANY: Shows("", "What fails to be handled appears here.", open=True),
}
TIERS = {Tier.DEAD_LETTER: RawSQL("'dead_letter'", ()), Tier.POISON: RawSQL("'poison'", ())}
