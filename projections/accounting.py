"""Accounting: every event up to the checkpoint was processed, ignored, skipped, dead-lettered or parked.

It is not a sum of counters that are bumped together. The runtime leaves spans of positions that it really saw and did;
positions are gapless, so a hole between spans is an event that something else must explain: a skip, a waiting event, a
letter. One that nothing explains is missing, and is named. The cost follows the number of holes, not of events.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Min
from django.utils import timezone

from dlq.api import find_first_open_position, find_statuses
from projections.models import NATIVE, Projection, Span
from projections.runtime.lock import lock_consumer_within

# How many missing events are named; there is rarely more than one cause.
MOST_NAMED = 20
CHUNK = 2000
# Neighbouring spans are joined when so many have come since they were last joined.
JOIN_AFTER = 100
# Beat's worker waits so long for a projection at work: it has breakers and runs to look after, too.
LOCK_SECONDS = 1.0
# Closed letters that are settled in one round: nobody consumes meanwhile. The others have a day and more until a purge.
MOST_SETTLED = 20_000
# Holes that a page looks at; it is asked for every few seconds.
MOST_ON_PAGE = 5000
CLOSED = ("resolved", "discarded")

# The checkpoint, what is covered by spans, and the ranges that are not; all of one moment.
SUM_SPANS = """
SELECT p.position, p.accounting_from, coalesce(s.ignored, 0), coalesce(s.closed, 0), coalesce(s.skipped, 0), s.number,
       gaps.ranges
FROM projections_projection p
CROSS JOIN LATERAL (
    SELECT sum(ignored_count) AS ignored, sum(closed_count) AS closed, sum(skipped_count) AS skipped,
           count(*) AS number, range_agg(int8range(first, last, '[]')) AS covered
    FROM projections_span WHERE projection_id = p.id
) AS s
CROSS JOIN LATERAL (
    SELECT array_agg(ARRAY[lower(gap), upper(gap) - 1] ORDER BY gap) AS ranges
    FROM unnest(int8multirange(int8range(p.accounting_from, p.position, '(]'))
                - coalesce(s.covered, '{}'::int8multirange)) AS gap
) AS gaps
WHERE p.id = %s
"""

# What our own tables say about the positions of a range, in their order: whoever forgets events goes by the first.
EXPLAIN = """
SELECT n, e.event_id, e.type, e.stream, s.id IS NOT NULL, w.id IS NOT NULL
FROM unnest(%(positions)s::bigint[]) AS n
LEFT JOIN projections_event e ON e.position = n
LEFT JOIN projections_skip s ON s.projection_id = %(id)s AND s.position = n
LEFT JOIN projections_waitingevent w ON w.projection_id = %(id)s AND w.position = n
ORDER BY n
"""

# Those of the positions that no span covers; the caller holds the consumer's lock.
FIND_HOLES = """
SELECT n FROM unnest(%(positions)s::bigint[]) AS n
JOIN projections_projection p ON p.id = %(id)s AND n > p.accounting_from AND n <= p.position
LEFT JOIN LATERAL (
    SELECT last FROM projections_span s WHERE s.projection_id = p.id AND s.first <= n ORDER BY s.first DESC LIMIT 1
) AS before ON true
WHERE coalesce(before.last, 0) < n
"""

# Neighbours become one span; the caller holds the consumer's lock.
JOIN_SPANS = """
WITH gone AS (
    DELETE FROM projections_span WHERE projection_id = %(id)s
    RETURNING first, last, ignored_count, closed_count, skipped_count
), marked AS (
    SELECT *, first > 1 + max(last) OVER (ORDER BY first ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS is_new
    FROM gone
), numbered AS (
    SELECT *, count(*) FILTER (WHERE is_new) OVER (ORDER BY first) AS island FROM marked
)
INSERT INTO projections_span (projection_id, first, last, ignored_count, closed_count, skipped_count)
SELECT %(id)s, min(first), max(last), sum(ignored_count), sum(closed_count), sum(skipped_count)
FROM numbered GROUP BY island
"""


class Hole(NamedTuple):
    """A position that no span covers, with its event; None if the store has no event there."""

    position: int
    event_id: Any
    type: str | None
    stream: str | None
    is_skipped: bool
    is_waiting: bool


@dataclass
class Account:
    """The equation, as of one moment."""

    position: int
    accounting_from: int
    total: int
    processed: int
    ignored: int
    skipped: int = 0
    dead_lettered: int = 0
    parked: int = 0
    waiting: int = 0
    missing: int = 0
    # As many as there were when they were last joined.
    span_count: int = 0
    checked_at: str = ""
    # Up to MOST_NAMED of the missing.
    named: list[dict[str, Any]] = field(default_factory=list)

    @property
    def taken_at(self) -> datetime:
        return datetime.fromisoformat(self.checked_at)

    @property
    def has_stored(self) -> bool:
        """Whether the store has one of those that are named, so that it can be handled again."""
        return any(event["event_id"] for event in self.named)

    @property
    def has_gone(self) -> bool:
        return not all(event["event_id"] for event in self.named)


def check(row: Projection) -> Account:
    """Take the account and keep it on the row; what seems missing is looked at again, under the lock if it is free.

    Settling and joining take the lock: if a batch takes long, they are for a later round.
    """
    account, closed, span_count = take(row)
    account.span_count = row.accounting.get("span_count", 0)
    is_scattered = span_count > account.span_count + JOIN_AFTER
    if account.missing or closed or is_scattered:
        with transaction.atomic():
            is_locked = lock_consumer_within(row.name, LOCK_SECONDS)
            if account.missing:
                joined_count = account.span_count
                account, closed, _ = take(row)
                account.span_count = joined_count
            if is_locked:
                settle(row, list_closed(row, closed[:MOST_SETTLED]))
            if is_locked and is_scattered:
                account.span_count = join_spans(row)
    Projection.objects.filter(pk=row.pk).update(accounting=asdict(account))
    return account


def show(row: Projection) -> Account:
    """For a page: taken now, or where that would take long, as beat last found it."""
    kept = row.accounting
    if kept and kept["total"] - kept["processed"] - kept["ignored"] > MOST_ON_PAGE:
        return Account(**kept)
    account = take(row)[0]
    # Spans are read before letters and the others: what was handled between is missing from both, but not twice.
    return take(row)[0] if account.missing else account


def take(row: Projection) -> tuple[Account, list[int], int]:
    """The account, the positions whose letters are closed and may be forgotten some day, and the number of spans."""
    with connection.cursor() as cursor:
        cursor.execute(SUM_SPANS, [row.pk])
        position, start, ignored, closed_count, skipped_count, span_count, ranges = cursor.fetchone()
    ranges = ranges or []
    total = position - start
    hole_count = sum(last - first + 1 for first, last in ranges)
    done = total - hole_count - closed_count - skipped_count
    account = Account(position, start, total, int(done - ignored), int(ignored))
    account.dead_lettered, account.skipped = int(closed_count), int(skipped_count)
    account.checked_at = timezone.now().isoformat()
    closed: list[int] = []
    for holes in list_holes(row, ranges):
        explain(row, holes, account, closed)
    return account, closed, span_count


def list_closed(row: Projection, positions: list[int]) -> list[int]:
    """Those of the positions that are still holes with a closed letter; the caller holds the consumer's lock."""
    with connection.cursor() as cursor:
        cursor.execute(FIND_HOLES, {"id": row.pk, "positions": positions})
        ranges = [[position, position] for (position,) in cursor.fetchall()]
    closed: list[int] = []
    for holes in list_holes(row, ranges):
        explain(row, holes, Account(0, 0, 0, 0, 0), closed)
    return closed


def find_first_open(row: Projection) -> int:
    """The first event that this projection, or the account of it, still needs; skips are settled.

    Letters and waiting events may stand before the account begins: a reset leaves them.
    """
    letter = find_first_open_position(row.name, source=NATIVE)
    waiting = row.waiting.aggregate(first=Min("position"))["first"]
    return min(found for found in (find_first_hole(row), letter, waiting) if found is not None)


def find_first_hole(row: Projection) -> int:
    """The first event up to the checkpoint whose fate is open, or else the one after it."""
    with connection.cursor() as cursor:
        cursor.execute(SUM_SPANS, [row.pk])
        position, *_, ranges = cursor.fetchone()
    for holes in list_holes(row, ranges or []):
        for hole in holes:
            if not hole.is_skipped:
                return hole.position
    return int(position) + 1


def list_holes(row: Projection, ranges: list[list[int]]) -> Iterator[list[Hole]]:
    positions = (position for first, last in ranges for position in range(first, last + 1))
    with connection.cursor() as cursor:
        while chunk := list(islice(positions, CHUNK)):
            cursor.execute(EXPLAIN, {"id": row.pk, "positions": chunk})
            yield [Hole(*found) for found in cursor.fetchall()]


def explain(row: Projection, holes: list[Hole], account: Account, closed: list[int]) -> None:
    ids = [str(hole.event_id) for hole in holes if hole.event_id and not hole.is_skipped]
    statuses = find_statuses(row.name, ids, source=NATIVE)
    counts: Counter[str] = Counter()
    for hole in holes:
        status = statuses.get(str(hole.event_id))
        if hole.is_skipped:
            counts["skipped"] += 1
        elif hole.is_waiting:
            counts["waiting"] += 1
        elif status == "parked":
            counts["parked"] += 1
        elif status:
            counts["dead_lettered"] += 1
            if status in CLOSED:
                closed.append(hole.position)
        else:
            counts["missing"] += 1
            if len(account.named) < MOST_NAMED:
                account.named.append(name_event(hole))
    for name, number in counts.items():
        setattr(account, name, getattr(account, name) + number)


def name_event(hole: Hole) -> dict[str, Any]:
    return {
        "position": hole.position,
        "event_id": str(hole.event_id or ""),
        "type": hole.type or "",
        "stream": hole.stream or "",
    }


def settle(row: Projection, positions: list[int]) -> None:
    """Closed letters become spans: the purge may then forget them without an alarm."""
    Span.objects.bulk_create(Span(projection=row, first=p, last=p, closed_count=1) for p in positions)


def join_spans(row: Projection) -> int:
    """Neighbours become one; returns how many are left."""
    with connection.cursor() as cursor:
        cursor.execute(JOIN_SPANS, {"id": row.pk})
        return int(cursor.rowcount)


def check_all() -> None:
    """Beat's round."""
    for row in Projection.objects.filter(source=NATIVE).order_by("pk"):
        check(row)
