"""Where each event of a batch goes before anything is handled: overrides, blocked streams, other types."""

from collections import defaultdict
from enum import Enum, auto

from dlq.api import Override, count_open, find_overrides, list_blocking
from projections.models import NATIVE, Projection
from projections.store import StoredEvent


class Route(Enum):
    HANDLE = auto()
    # Not of its types.
    IGNORE = auto()
    # Somebody decided that this consumer goes without it.
    SKIP = auto()
    # An earlier event of its stream is an open letter.
    PARK = auto()
    # An earlier event of its stream waits for a breaker.
    WAIT = auto()


class Router:
    """What is on record about a batch's events and their streams, kept up as the batch goes on."""

    def __init__(self, row: Projection, events: list[StoredEvent], event_types: list[str]) -> None:
        self.event_types = frozenset(event_types)
        wanted = [event for event in events if event.type in self.event_types]
        ids, streams = [str(event.event_id) for event in wanted], {event.stream for event in wanted}
        self.overrides = find_overrides(row.name, ids, source=NATIVE) if ids else {}
        # Positions of open and parked letters, by stream; a letter without one blocks from the start.
        self.letters: defaultdict[str, set[int]] = defaultdict(set)
        self.has_letter: set[str] = set()
        # The counters tell in one small read that nothing is open, which is nearly always so.
        has_open = bool(ids) and bool(count_open([row.name], source=NATIVE))
        for letter in list_blocking(row.name, streams, source=NATIVE) if has_open else ():
            self.letters[letter.sequence_key].add(letter.position or 0)
            self.has_letter.add(letter.event_id)
        self.waiting_streams = set(row.waiting.values_list("stream", flat=True)) if row.first_wait else set()

    def route(self, event: StoredEvent) -> Route:
        if event.type not in self.event_types:
            return Route.IGNORE
        override = self.find_override(event)
        if override and override.kind != Override.Kind.REPLACED:
            return Route.SKIP
        if any(position < event.position for position in self.letters.get(event.stream, ())):
            return Route.PARK
        if event.stream in self.waiting_streams:
            return Route.WAIT
        # Its own letter, if it has one, is what this try may close.
        if event.stream in self.letters:
            self.letters[event.stream].discard(event.position)
        return Route.HANDLE

    def replace(self, event: StoredEvent) -> StoredEvent:
        """The event with the payload that somebody put in its place, if somebody did."""
        override = self.find_override(event)
        return event._replace(data=override.payload) if override else event

    def find_override(self, event: StoredEvent) -> Override | None:
        return self.overrides.get(str(event.event_id)) if self.overrides else None

    def block(self, event: StoredEvent) -> None:
        self.letters[event.stream].add(event.position)
