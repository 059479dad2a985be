"""The dead letters' figures on the overview, from counters and samples: they cost the same on any number of letters."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from django.db.models import Exists, OuterRef
from django.utils import timezone

from dlq.models import DeadLetter, DepthSample, LetterRunItem
from dlq.models.words import Status
from dlq.queries.groups import fetch
from dlq.queries.totals import list_most

# Of the replays of a range, the newest; nobody reads a rate off more.
MOST_REPLAYS = 1_000

OPEN = """
SELECT status, category, error_type, tier, sum(number) FROM dlq_counted
WHERE status IN ('failed', 'parked') GROUP BY 1, 2, 3, 4 HAVING sum(number) > 0
"""

# Failed attempts, folded and appended since, in one statement: a fold moves between the two.
ATTEMPTS = """
SELECT starts_at, category, number FROM dlq_categorybucket WHERE starts_at >= %(start)s
UNION ALL
SELECT starts_at, category, number FROM dlq_failurebucket WHERE width = 'raw' AND starts_at >= %(start)s
"""
RECENT = f"""
SELECT coalesce(sum(number) FILTER (WHERE starts_at > now() - interval '1 hour'), 0), coalesce(sum(number), 0)
FROM ({ATTEMPTS}) AS attempts
"""  # noqa: S608 - one constant within another
FAILURES = f"""
SELECT date_bin(%(step)s, starts_at, %(start)s) AS slot, category, sum(number)
FROM ({ATTEMPTS}) AS attempts GROUP BY 1, 2
"""  # noqa: S608

# The last look within each slot.
DEPTHS = """
SELECT DISTINCT ON (slot) date_bin(%(step)s, at, %(start)s) AS slot, open_count
FROM dlq_depthsample WHERE at >= %(start)s ORDER BY slot, at DESC
"""

# What replays did, by when they were asked for; a dry run undid everything.
REPLAYS = """
SELECT date_bin(%(step)s, run.created_at, %(start)s) AS slot, outcome.key, sum(outcome.value::bigint)
FROM (
    SELECT id, created_at FROM dashboard_run
    WHERE created_at >= %(start)s AND kind = 'replay' AND NOT coalesce((options->>'dry_run')::boolean, false)
    ORDER BY created_at DESC LIMIT %(most)s
) AS run
JOIN dashboard_lane lane ON lane.run_id = run.id
CROSS JOIN LATERAL jsonb_each_text(lane.totals) AS outcome
GROUP BY 1, 2
"""


@dataclass(frozen=True)
class Oldest:
    """The open letter that failed first, however often it was tried since."""

    letter_id: int
    consumer: str
    error_type: str
    at: datetime

    @property
    def waited_seconds(self) -> float:
        return max((timezone.now() - self.at).total_seconds(), 0)


@dataclass(frozen=True)
class OpenFigures:
    """The open letters of this moment."""

    number: int
    poison_count: int
    # They count in no other figure: each waits for an earlier letter of its sequence, or for somebody who decides.
    parked_count: int
    by_category: dict[str, int]
    by_error_type: dict[str, int]
    # The category of most of an error type's letters, for its colour.
    category_of: dict[str, str]
    oldest: Oldest | None
    # By the least number of attempts of each bar, and when beat counted; None: it has not yet.
    by_attempts: dict[int, int]
    counted_at: datetime | None

    @property
    def counted(self) -> int:
        """How many were open when beat counted."""
        return sum(self.by_attempts.values())


@dataclass(frozen=True)
class Recent:
    """Failed attempts of late, to the five minutes."""

    hour_count: int
    day_count: int


@dataclass(frozen=True)
class Slots:
    """A range of time cut into equal parts, of which the last holds the present moment."""

    start: datetime
    step: timedelta
    number: int

    @property
    def span(self) -> timedelta:
        return self.step * self.number

    @cached_property
    def times(self) -> list[datetime]:
        """When each part begins, and when the last one ends."""
        return [self.start + self.step * n for n in range(self.number + 1)]


@dataclass(frozen=True)
class History:
    """What happened in each part of a range; a depth is None where nobody looked."""

    failures: dict[str, list[int]]
    depths: list[int | None]
    replays: dict[str, list[int]]


def cut(span: timedelta, step: timedelta) -> Slots:
    """The range that ends now; its parts begin at round times of the console's zone."""
    now = timezone.localtime()
    offset = now.utcoffset() or timedelta()
    current = (now.timestamp() + offset.total_seconds()) // step.total_seconds() * step.total_seconds()
    number = span // step
    last = datetime.fromtimestamp(current - offset.total_seconds(), UTC)
    return Slots(last - step * (number - 1), step, number)


def find_left() -> tuple[int, int] | None:
    """How many sequences have only parked letters left, and the oldest of these; as beat last counted, None: none.

    When that letter is dealt with, what is known is too old to be told, and beat counts again within the minute.
    """
    sample = DepthSample.objects.only("left_count", "left_letter_id").order_by("-at").first()
    if sample is None or sample.left_letter_id is None:
        return None
    in_hand = LetterRunItem.objects.filter(letter=OuterRef("pk"), is_active=True)
    parked = DeadLetter.objects.filter(pk=sample.left_letter_id, status=Status.PARKED).exclude(
        Exists(in_hand)
    )
    return (sample.left_count, sample.left_letter_id) if parked.exists() else None


def get_open() -> OpenFigures:
    by_category: dict[str, int] = defaultdict(int)
    by_error_type: dict[str, int] = defaultdict(int)
    category_of: dict[str, tuple[int, str]] = {}
    poison_count = parked_count = 0
    for status, category, error_type, tier, number in fetch(OPEN, {}):
        if status == Status.PARKED:
            parked_count += int(number)
            continue
        by_category[category] += int(number)
        by_error_type[error_type] += int(number)
        category_of[error_type] = max(category_of.get(error_type, (0, "")), (int(number), category))
        poison_count += int(number) if tier == "poison" else 0
    sample = DepthSample.objects.order_by("-at").first()
    return OpenFigures(
        number=sum(by_category.values()),
        poison_count=poison_count,
        parked_count=parked_count,
        by_category=dict(list_most(by_category)),
        by_error_type=dict(list_most(by_error_type)),
        category_of={error_type: category for error_type, (_, category) in category_of.items()},
        oldest=find_oldest(),
        by_attempts={int(bound): number for bound, number in sample.by_attempts.items()} if sample else {},
        counted_at=sample.at if sample else None,
    )


def find_oldest() -> Oldest | None:
    """One probe of the index of open letters; None: none is open."""
    opened = DeadLetter.objects.open().order_by("first_failed_at", "id")
    found = opened.values_list("pk", "consumer", "error_type", "first_failed_at").first()
    return Oldest(*found) if found else None


def count_recent() -> Recent:
    [numbers] = fetch(RECENT, {"start": timezone.now() - timedelta(days=1)})
    return Recent(*map(int, numbers))


def get_history(slots: Slots) -> History:
    params = {"start": slots.start, "step": slots.step, "most": MOST_REPLAYS}
    depths: list[int | None] = [None] * slots.number
    for slot, number in fetch(DEPTHS, params):
        depths[place(slot, slots)] = number
    return History(spread(fetch(FAILURES, params), slots), depths, spread(fetch(REPLAYS, params), slots))


def spread(rows: list[tuple[Any, ...]], slots: Slots) -> dict[str, list[int]]:
    """Rows of (slot, name, number) as one list of numbers for each name."""
    lists: dict[str, list[int]] = defaultdict(lambda: [0] * slots.number)
    for slot, name, number in rows:
        lists[name][place(slot, slots)] += int(number)
    return dict(lists)


def place(slot: datetime, slots: Slots) -> int:
    """Which part it is; clocks differ, so a moment that is still to come belongs to the last."""
    return min((slot - slots.start) // slots.step, slots.number - 1)
