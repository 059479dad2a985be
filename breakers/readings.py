"""How old it is what Postgres knows of breakers: which places in Redis are not read at the moment."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from django.conf import settings
from django.utils.text import get_text_list

from breakers.foreign.registry import list_readers
from breakers.models import Breaker, Reading


@dataclass(frozen=True)
class Unread:
    """Other libraries' breakers that cannot be read for one and the same reason."""

    places: str
    # Empty: nobody tries.
    error: str
    # When all of them had been read; None: one never was.
    read_at: datetime | None


def find_silent(redis_error: str | None = None) -> dict[str, Reading]:
    """The places that are not read at the moment, by the source of their breakers.

    `redis_error` is what Redis said to a page that has just asked it, "" if it answered; None: nobody has asked.
    """
    readings = {reading.place: reading for reading in Reading.objects.exclude(place=Reading.TRANSITIONS)}
    if redis_error:
        # Others may keep theirs in the same Redis; its silence is no news to the page, whatever the scan has noted.
        theirs = list_readers() if settings.FOREIGN_BREAKERS_URL == settings.REDIS_URL else ()
        for source in (Breaker.OURS, *theirs):
            readings.setdefault(source, Reading(place=source)).error = redis_error
    elif redis_error == "":
        # What the page shows of ours is as of now, whenever beat read it.
        readings.pop(Breaker.OURS, None)
    return {source: reading for source, reading in readings.items() if reading.is_silent}


def list_unread(silent: Iterable[Reading]) -> list[Unread]:
    """One for each reason."""
    unread = []
    for error, group in groupby(sorted(silent, key=attrgetter("error", "place")), key=attrgetter("error")):
        places = list(group)
        times = [reading.read_at for reading in places if reading.read_at]
        names = get_text_list([reading.place for reading in places], "and")
        unread.append(Unread(names, error, min(times) if len(times) == len(places) else None))
    return unread
