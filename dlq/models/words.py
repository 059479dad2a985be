"""The closed sets of words that letters are described with."""

from django.db import models


class Category(models.TextChoices):
    """What kind of failure it was; it decides what the console offers first."""

    TRANSIENT = "transient"
    PERMANENT = "permanent"
    POISON = "poison"
    DEPENDENCY = "dependency"
    INFRASTRUCTURE = "infrastructure"


class Status(models.TextChoices):
    """Failed letters are open; a parked one waits behind an open letter of its sequence; the others are closed."""

    FAILED = "failed"
    PARKED = "parked"
    RESOLVED = "resolved"
    DISCARDED = "discarded"


# What stands in a sequence until somebody has dealt with it: open, or parked behind what is.
UNSETTLED = (Status.FAILED, Status.PARKED)
CLOSED = (Status.RESOLVED, Status.DISCARDED)


class Tier(models.TextChoices):
    """Poison is set apart: it is replayed only if somebody insists."""

    DEAD_LETTER = "dead_letter", "Dead letter"
    POISON = "poison"


class Resolution(models.TextChoices):
    """How a closed letter came to be closed."""

    REPLAYED = "replayed"
    BY_HAND = "by_hand", "By hand"
    AT_SOURCE = "at_source", "At its source"
    REBUILT = "rebuilt"
    DISCARDED = "discarded"
