"""The groups page: worst first, in five statements whatever the number of letters."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.exceptions import BadRequest
from django.db import connection
from django.utils import timezone

from dashboard.days import start_of_day
from dlq.masking import get_masking
from dlq.models import DeadLetter, Facet, FailureGroup, GroupFacet

PAGE_SIZE = 50
TABS = {
    "open": "Open",
    "new": "New today",
    "regressed": "Regressed",
    "poison": "Poison",
    "muted": "Muted",
    "closed": "Closed",
}
HOURS = 24
# Of a cursor's rank: more is no rank of ours.
MOST_DIGITS = 30

# Every group's figures, from the counters.
FIGURES = """
SELECT group_id,
       coalesce(sum(number) FILTER (WHERE status = 'failed'), 0) AS open_count,
       coalesce(sum(number) FILTER (WHERE status = 'failed' AND tier = 'poison'), 0) AS poison_count,
       sum(number) AS total_count, min(first_at) AS first_at, max(last_at) AS last_at
FROM dlq_counted WHERE group_id > 0 GROUP BY group_id
"""

# Every group, and in which tabs it stands.
TABBED = f"""
SELECT group_id AS id, open_count, poison_count, total_count, first_at, last_at,
       open_count > 0 AND NOT muted AS in_open,
       open_count > 0 AND NOT muted AND first_at >= %(today)s AS in_new,
       open_count > 0 AND NOT muted AND regressed_at IS NOT NULL AS in_regressed,
       poison_count > 0 AS in_poison,
       muted AS in_muted,
       open_count = 0 AS in_closed
FROM ({FIGURES}) AS figures
JOIN (
    SELECT id, regressed_at, is_muted AND (muted_until IS NULL OR muted_until > now()) AS muted FROM dlq_failuregroup
) AS g ON g.id = figures.group_id
"""  # noqa: S608 - one constant within another

# Closed groups by when they last failed, the others by how many are open.
LIST = f"""
SELECT id, open_count, poison_count, total_count, first_at, last_at, rank
FROM (
    SELECT *, CASE WHEN %(tab)s = 'closed' THEN extract(epoch FROM last_at) ELSE open_count END AS rank
    FROM ({TABBED}) AS tabbed
    WHERE CASE %(tab)s WHEN 'open' THEN in_open WHEN 'new' THEN in_new WHEN 'regressed' THEN in_regressed
        WHEN 'poison' THEN in_poison WHEN 'muted' THEN in_muted ELSE in_closed END
) AS ranked
WHERE %(after_rank)s::numeric IS NULL OR (rank, id) < (%(after_rank)s, %(after_id)s)
ORDER BY rank DESC, id DESC LIMIT %(limit)s
"""  # noqa: S608

# The largest open groups, and those that fail most at the moment, each in the words of its newest letter. Words that
# were made under other masking rules may hold what is masked today.
WORST = f"""
SELECT worst.id, worst.source, worst.consumer, CASE
           WHEN newest.summary <> '' AND newest.mask_key = %(mask_key)s THEN newest.error_type || ': ' || newest.summary
           WHEN worst.mask_key = %(mask_key)s THEN worst.title
           ELSE worst.error_type
       END AS title, open_count::bigint, first_at, last_at, blocked_sequence_count, recent_count::bigint
FROM (
    SELECT id, source, consumer, title, error_type, mask_key, open_count, first_at, last_at, blocked_sequence_count,
           coalesce(recent.number, 0) AS recent_count,
           row_number() OVER (ORDER BY open_count DESC, id DESC) AS by_size,
           row_number() OVER (ORDER BY recent.number DESC NULLS LAST, id DESC) AS by_growth
    FROM ({TABBED}) AS tabbed JOIN dlq_failuregroup USING (id)
    LEFT JOIN (
        SELECT group_id, sum(number) AS number FROM dlq_failurebucket WHERE starts_at > %(since)s GROUP BY 1
    ) AS recent ON recent.group_id = id
    WHERE in_open
) AS worst
LEFT JOIN LATERAL (
    SELECT error_type, summary, mask_key FROM dlq_deadletter WHERE group_id = worst.id
    ORDER BY last_failed_at DESC, id DESC LIMIT 1
) AS newest ON true
WHERE by_size <= %(limit)s OR (recent_count > 0 AND by_growth <= %(limit)s)
ORDER BY open_count DESC, worst.id DESC
"""  # noqa: S608

COUNT_TABS = f"""
SELECT count(*) FILTER (WHERE in_open), count(*) FILTER (WHERE in_new), count(*) FILTER (WHERE in_regressed),
       count(*) FILTER (WHERE in_poison), count(*) FILTER (WHERE in_muted), count(*) FILTER (WHERE in_closed),
       count(*) FILTER (WHERE open_count > 0)
FROM ({TABBED}) AS tabbed
"""  # noqa: S608

# Failed attempts by hour; the last element is the current hour.
SPARKLINES = """
SELECT group_id, extract(epoch FROM starts_at - %(start)s)::int / 3600 AS hour, sum(number)
FROM dlq_failurebucket WHERE group_id = ANY(%(ids)s) AND starts_at >= %(start)s GROUP BY 1, 2
"""


# The newest letter of each group: a title without values says little to who is looking for one.
EXAMPLES = """
SELECT wanted.id, newest.error_type, newest.summary, newest.mask_key
FROM unnest(%(ids)s::bigint[]) AS wanted(id) CROSS JOIN LATERAL (
    SELECT error_type, summary, mask_key FROM dlq_deadletter WHERE group_id = wanted.id
    ORDER BY last_failed_at DESC, id DESC LIMIT 1
) AS newest
"""


@dataclass(frozen=True)
class GroupRow:
    """A group with its figures; `example` holds the words of its newest letter, and is None once all are purged."""

    group: FailureGroup
    example: DeadLetter | None
    open_count: int
    poison_count: int
    total_count: int
    first_at: datetime
    last_at: datetime
    sparkline: list[int]
    versions: list[str]

    @property
    def badge(self) -> str:
        """Muted, regressed, new, or nothing of the kind."""
        if self.group.is_muted and (
            self.group.muted_until is None or self.group.muted_until > timezone.now()
        ):
            return "muted"
        if self.group.regressed_at and self.open_count:
            return "regressed"
        return "new" if self.open_count and self.first_at >= start_of_today() else ""


@dataclass(frozen=True)
class GroupPage:
    """Groups of a tab, and the cursor to go on from; empty: there are no more."""

    rows: list[GroupRow]
    after: str


def list_groups(tab: str = "open", after: str = "", size: int = PAGE_SIZE) -> GroupPage:
    """A tab's groups, worst first."""
    rank, pk = read_cursor(after) if after else (None, None)
    params = {"tab": tab, "today": start_of_today(), "after_rank": rank, "after_id": pk, "limit": size + 1}
    found = fetch(LIST, params)
    rows = make_rows([row[:-1] for row in found[:size]])
    last = found[size - 1] if len(found) > size else None
    return GroupPage(rows, after=f"{last[-1]}_{last[0]}" if last else "")


def make_rows(figures: Sequence[tuple[Any, ...]]) -> list[GroupRow]:
    """Rows for groups given as (id, open, poison, total, first, last)."""
    ids = [row[0] for row in figures]
    groups = FailureGroup.objects.in_bulk(ids)
    sparklines, versions, examples = get_sparklines(ids), get_versions(ids), get_examples(ids)
    return [
        GroupRow(
            groups[pk],
            examples.get(pk),
            int(opened),
            int(poison),
            int(total),
            first,
            last,
            sparklines[pk],
            versions[pk],
        )
        for pk, opened, poison, total, first, last in figures
        if pk in groups
    ]


@dataclass(frozen=True)
class WorstGroup:
    """What the overview says of a group; its title is masked by the rules of today, so everybody may read it."""

    group_id: int
    source: str
    consumer: str
    title: str
    open_count: int
    first_at: datetime
    last_at: datetime
    blocked_count: int
    # Failed attempts within the time that was asked about.
    recent_count: int


def find_worst(number: int, within: timedelta) -> list[WorstGroup]:
    """So many open groups with the most letters, and as many that failed most within the time, in one statement."""
    params = {
        "today": start_of_today(),
        "limit": number,
        "mask_key": get_masking().key,
        "since": timezone.now() - within,
    }
    return [WorstGroup(*row) for row in fetch(WORST, params)]


def count_tabs() -> dict[str, int]:
    """How many groups each tab has, and `with_open`: how many have open letters, muted ones too."""
    [numbers] = fetch(COUNT_TABS, {"today": start_of_today()})
    return dict(zip([*TABS, "with_open"], numbers, strict=True))


def get_sparklines(ids: list[int], hours: int = HOURS) -> dict[int, list[int]]:
    """For each group its failed attempts in each of the last hours."""
    this_hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    start = this_hour - timedelta(hours=hours - 1)
    lines: dict[int, list[int]] = defaultdict(lambda: [0] * hours)
    for group_id, hour, number in fetch(SPARKLINES, {"ids": ids, "start": start}):
        lines[group_id][min(hour, hours - 1)] += int(number)
    return lines


def get_examples(ids: list[int]) -> dict[int, DeadLetter]:
    """For each group its newest letter, with only the words that a list shows."""
    return {
        group_id: DeadLetter(error_type=error_type, summary=summary, mask_key=mask_key)
        for group_id, error_type, summary, mask_key in fetch(EXAMPLES, {"ids": ids})
    }


def get_versions(ids: list[int]) -> dict[int, list[str]]:
    """For each group the application's versions in which it was seen, newest first."""
    seen = GroupFacet.objects.filter(group_id__in=ids, kind=Facet.Kind.APP_VERSION).order_by("-first_at")
    versions: dict[int, list[str]] = defaultdict(list)
    for group_id, value in seen.values_list("group_id", "value"):
        versions[group_id].append(value)
    return versions


def fetch(statement: str, params: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return list(cursor.fetchall())


def start_of_today() -> datetime:
    return start_of_day(timezone.localdate())


def read_cursor(text: str) -> tuple[Decimal, int]:
    rank, _, pk = text.rpartition("_")
    damaged = BadRequest("The page's cursor (after) is damaged; start from the first page.")
    try:
        cursor = Decimal(rank), int(pk)
    except (InvalidOperation, ValueError):
        raise damaged from None
    if not cursor[0].is_finite() or abs(cursor[0].adjusted()) > MOST_DIGITS or not 0 < cursor[1] < 2**63:
        raise damaged
    return cursor
