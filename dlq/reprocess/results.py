"""What became of a slice's events; one that failed has a letter from then on, as any other failure."""

from dataclasses import dataclass, field, replace
from typing import Any

from dashboard.models import Lane, Run
from dlq.replay.outcomes import ADD_SUCCESSES, FAILED, Results, describe_failure, execute
from dlq.replay.rows import Row
from dlq.replay.took import Took
from dlq.reprocess.rows import LAST, Letter
from projections.api import NATIVE, StoredEvent, describe_event

# The item says which letter its event failed into.
LINK_LETTERS = """
UPDATE dlq_letterrunitem i SET letter_id = l.id
FROM unnest(%(items)s::bigint[], %(events)s::text[]) AS given(item, event)
JOIN dlq_deadletter l ON l.event_id = given.event AND l.consumer = %(consumer)s AND l.source = %(source)s
WHERE i.id = given.item
"""


@dataclass
class EventResults(Results):
    """As of letters, but a success closes nothing: whatever the event had failed with is closed already."""

    # By item and by event id; see rows.py.
    events: dict[int, StoredEvent] = field(default_factory=dict)
    letters: dict[str, Letter] = field(default_factory=dict)

    def hold_behind(self, row: Row, letter_id: int) -> None:
        """Behind a letter, or behind an event of this slice that has just failed and will have one."""
        if letter_id == LAST:
            self.hold(row, "behind a failed event of the same stream")
        else:
            super().hold_behind(row, letter_id)

    def fail(self, row: Row, error: BaseException, *, payload: Any, took: Took, run: Run) -> None:
        event = self.events[row.item_id]
        failure = describe_failure(row, error, payload, took, run)
        # The letter may be the event's first, and is to know of it what live consumption would have told.
        told = describe_event(row.consumer, event) | {"payload": event.data, "headers": event.metadata}
        self.failures.append((row, replace(failure, **told)))

    def save_letters(self, run: Run) -> None:
        had = [self.letters.get(row.event_id) for row in self.succeeded]
        ids = [letter.id for letter in had if letter]
        if ids:
            execute(ADD_SUCCESSES, {"ids": ids, "run": run.pk})
        self.save_failures()

    def end_items(self, lane: Lane) -> None:
        super().end_items(lane)
        failed = [ending.row for ending in self.endings if ending.outcome.name in FAILED]
        if failed:
            values = {
                "items": [row.item_id for row in failed],
                "events": [row.event_id for row in failed],
                "consumer": failed[0].consumer,
                "source": NATIVE,
            }
            execute(LINK_LETTERS, values)
