"""Playing events of the store through their projection's handler, all of a slice in one transaction.

The steps are those of replay/handler.py, under the same locks. Nothing joins the run, since an event that succeeds
holds nobody up; and an event that has an open letter, or stands behind one, is held: its letter is to be replayed.
If the worker dies before the commit, nothing of the slice happened; handlers with effects outside get one event a
slice, so at most that one is done again.
"""

from dlq.models import Override
from dlq.models.words import UNSETTLED
from dlq.overrides import find_overrides
from dlq.replay.handler import LetterSlice
from dlq.replay.outcomes import Results
from dlq.replay.playing import Pair
from dlq.replay.queue import NOBODY, Joined
from dlq.replay.rows import Ahead
from dlq.reprocess.results import EventResults
from dlq.reprocess.rows import EventRows
from projections.api import NATIVE, Projector, find_unhandled

WHY_NOT = {
    "skipped": "skipped by the projection, and to be brought back as a letter first",
    "waiting": "waiting for a breaker, or behind an event of the same stream that is",
}


class EventSlice(LetterSlice):
    """The events that are tried together."""

    def find_playable(self, item_ids: list[int], checkpoint: int) -> tuple[Results, list[Pair], Ahead]:
        found = EventRows(item_ids, self.projector.name)
        results = EventResults(events=found.events, letters=found.letters)
        return results, find_pairs(found, self.projector, checkpoint, results), Ahead(found.rows)

    def join_followers(self, lane: int, results: Results) -> Joined:
        return NOBODY


def find_pairs(found: EventRows, projector: Projector, checkpoint: int, results: EventResults) -> list[Pair]:
    """The events that may be tried, as somebody may have replaced them; one that may not holds up nobody."""
    overrides = find_overrides(projector.name, (row.event_id for row in found.rows), source=NATIVE)
    unhandled = find_unhandled(projector.name, found.events.values())
    pairs = []
    for row in found.gone:
        results.skip(row, "not in the event store")
    for row in found.rows:
        event, override = found.events[row.item_id], overrides.get(row.event_id)
        if override and override.kind != Override.Kind.REPLACED:
            results.skip(row, f"{override.kind} by {override.actor}")
        elif row.status in UNSETTLED:
            letter_id = found.letters[row.event_id].id
            results.hold(row, f"open as a letter already, which can be replayed (letter {letter_id})")
        elif event.position in unhandled:
            results.hold(row, WHY_NOT[unhandled[event.position]])
        elif event.position > checkpoint:
            results.hold(row, "not yet reached by the projection")
        else:
            pairs.append((row, event._replace(data=override.payload) if override else event))
    return pairs
