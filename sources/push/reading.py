"""From a request's items to failures: each is taken or refused by itself."""

from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from dlq.api import Failure
from sources.push.errors import BadItemError
from sources.push.formats import read_failures
from sources.push.items import MOST_ITEMS, Place

# One item can tell of several failures, each with a copy of its event; so much larger a request may become.
MOST_COPIES = 4


@dataclass
class Read:
    """What was taken, how many items that were, and why the others were not."""

    failures: list[Failure] = field(default_factory=list)
    taken_count: int = 0
    refused: list[dict[str, Any]] = field(default_factory=list)


def read_all(places: list[Place], source: str) -> Read:
    read = Read()
    weight = 0
    for place in places:
        try:
            if isinstance(place.item, BadItemError):
                raise place.item
            failures = read_failures(place.item, source)
            more = sum(len(failure.payload or "") for failure in failures)
            if (
                weight + more > MOST_COPIES * settings.PUSH_BODY_BYTES
                or len(read.failures) + len(failures) > MOST_ITEMS
            ):
                raise BadItemError(
                    "With one letter for each of its queues the request is too large; send it alone."
                )
        except BadItemError as error:
            read.refused.append({"index": place.index, "reason": str(error)})
            continue
        weight += more
        read.failures += failures
        read.taken_count += 1
    return read
