"""What became of a slice's letters, written in the transaction that did it."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from traceback import format_exception
from typing import Any

from django.conf import settings
from django.db import connection

from dashboard.models import Lane, Run
from dashboard.runs.kinds import Outcome
from dlq.models import DeadLetter, FailureGroup
from dlq.recording import Failure, record_failures
from dlq.replay.rows import Row
from dlq.replay.took import Took
from projections.api import NATIVE

MOST_TRACE = 20_000

SUCCEEDED, SENT, UNCONFIRMED, SAME, NEW, HELD, SKIPPED = (
    Outcome("succeeded", "succeeded", "good"),
    Outcome("sent", "sent and not confirmed", "info", is_done=False),
    Outcome("unconfirmed", "sent and not confirmed in time", "warn", is_done=False),
    Outcome("same_error", "failed with the same error", "bad"),
    Outcome("new_error", "failed with a new error", "poison"),
    Outcome("held", "held", "warn"),
    Outcome("skipped", "skipped", "mute"),
)
OUTCOMES = (SUCCEEDED, SENT, UNCONFIRMED, SAME, NEW, HELD, SKIPPED)
FAILED = (SAME.name, NEW.name)

# The letters that were handled close, with a try each. One that somebody closed while it was sent stays as it is; one
# that followed its source did so because of this replay.
CLOSE_LETTERS = """
UPDATE dlq_deadletter SET
    status = 'resolved', resolution = 'replayed', closed_by = %(actor)s, close_reason = %(reason)s,
    closed_at = now(), replays = replays + 1
WHERE id = ANY(%(ids)s) AND (status IN ('failed', 'parked') OR resolution = 'at_source')
"""
ADD_SUCCESSES = """
INSERT INTO dlq_attempt (letter_id, at, duration_ms, outcome, error_type, error_message, category, group_id, run_id)
SELECT id, clock_timestamp(), NULL, 'succeeded', '', '', '', NULL, %(run)s FROM unnest(%(ids)s::bigint[]) AS id
ON CONFLICT (letter_id, at) DO NOTHING
"""
# A letter that failed too many replays is set apart.
COUNT_REPLAYS = """
UPDATE dlq_deadletter SET
    replays = replays + 1, tier = CASE WHEN replays + 1 >= %(limit)s THEN 'poison' ELSE tier END
WHERE id = ANY(%(ids)s)
"""
END_ITEMS = """
UPDATE dlq_letterrunitem i SET
    outcome = e.outcome, note = e.note, group_id = e.group_id, is_active = false, at = now()
FROM unnest(%(ids)s::bigint[], %(outcomes)s::text[], %(notes)s::text[], %(groups)s::bigint[])
    AS e(id, outcome, note, group_id)
WHERE i.id = e.id
"""


@dataclass(frozen=True)
class Ending:
    """How one item ended."""

    row: Row
    outcome: Outcome
    note: str = ""
    group_id: int | None = None


@dataclass
class Results:
    """Collects the endings of a slice; `wait_until` stops the lane before the first item that has none."""

    endings: list[Ending] = field(default_factory=list)
    failures: list[tuple[Row, Failure]] = field(default_factory=list)
    wait_until: datetime | None = None

    def succeed(self, row: Row) -> None:
        self.endings.append(Ending(row, SUCCEEDED))

    def hold(self, row: Row, note: str) -> None:
        self.endings.append(Ending(row, HELD, note))

    def hold_behind(self, row: Row, letter_id: int) -> None:
        self.hold(row, f"behind an earlier letter of the same sequence (letter {letter_id})")

    def skip(self, row: Row, note: str) -> None:
        self.endings.append(Ending(row, SKIPPED, note))

    def fail(self, row: Row, error: BaseException, *, payload: Any, took: Took, run: Run) -> None:
        self.failures.append((row, describe_failure(row, error, payload, took, run)))

    @property
    def failed_count(self) -> int:
        return sum(ending.outcome.name in FAILED for ending in self.endings)

    @property
    def succeeded(self) -> list[Row]:
        return [ending.row for ending in self.endings if ending.outcome is SUCCEEDED]

    def save_letters(self, run: Run) -> None:
        """Close those that succeeded and record the failures; the caller's transaction has the letters' locks."""
        closed = [row.letter_id for row in self.succeeded]
        if closed:
            values = {"ids": closed, "actor": run.requested_by, "reason": run.reason, "run": run.pk}
            execute(CLOSE_LETTERS, values)
            execute(ADD_SUCCESSES, values)
        self.save_failures()

    def save_failures(self) -> None:
        if not self.failures:
            return
        ids = record_failures(failure for _, failure in self.failures)
        execute(COUNT_REPLAYS, {"ids": ids, "limit": settings.POISON_AFTER_REPLAYS})
        groups = dict(DeadLetter.objects.filter(pk__in=ids).values_list("pk", "group_id"))
        for (row, _), letter_id in zip(self.failures, ids, strict=True):
            group_id = groups[letter_id]
            outcome = SAME if group_id == row.group_id else NEW
            self.endings.append(Ending(row, outcome, group_id=group_id))

    def name_new_errors(self) -> None:
        """Before a dry run is undone: its items say what a group would, which was perhaps only made for it."""
        groups = FailureGroup.objects.in_bulk({one.group_id for one in self.endings if one.group_id})
        self.endings = [
            replace(one, note=groups[one.group_id].title, group_id=None)
            if one.outcome is NEW and one.group_id
            else one
            for one in self.endings
        ]

    def end_items(self, lane: Lane) -> None:
        if not self.endings:
            return
        execute(
            END_ITEMS,
            {
                "ids": [ending.row.item_id for ending in self.endings],
                "outcomes": [ending.outcome.name for ending in self.endings],
                "notes": [ending.note for ending in self.endings],
                "groups": [ending.group_id for ending in self.endings],
            },
        )
        counts = Counter(ending.outcome.name for ending in self.endings)
        for name, number in counts.items():
            lane.count(name, number)


def describe_failure(row: Row, error: BaseException, payload: Any, took: Took, run: Run) -> Failure:
    return Failure(
        source=row.source,
        consumer=row.consumer,
        event_id=row.event_id,
        event_type=row.event_type,
        sequence_key=row.sequence_key,
        sequence_no=row.sequence_no,
        position=row.position,
        payload=payload,
        # What was tried may be somebody's replacement. Only a letter that we parked has no payload of its own.
        keeps_payload=not (row.status == "parked" and row.source == NATIVE),
        error=error,
        # The end of a trace is where it happened.
        stacktrace="".join(format_exception(error))[-MOST_TRACE:],
        category=getattr(error, "category", ""),
        # When it began: to whom the letter closed while it was sent this is no later failure.
        failed_at=took.began_at,
        duration_ms=took.duration_ms,
        run_id=run.pk,
    )


def execute(statement: str, values: dict[str, Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
