"""The group page: what it is, why it is one, since when, and what it holds up."""

from collections import Counter
from dataclasses import dataclass

from django.http import Http404

from dashboard.models import AuditEntry
from dlq.models import DeadLetter, FailureGroup
from dlq.queries.activity import list_activity
from dlq.queries.groups import FIGURES, GroupRow, fetch, get_sparklines, make_rows
from dlq.queries.totals import list_most

# A group's newest letters stand for it where counting all of them would take long; the page says so.
SAMPLE_SIZE = 500
HISTOGRAM_HOURS = 7 * 24
SHOWN_SEQUENCES = 10
SHOWN_SAMPLES = 3
SHOWN_ELSEWHERE = 20

# Counted by Postgres: hundreds of rows take longer to come here than to be looked at there.
KINDS = """
SELECT event_type, app_version, count(*) FROM (
    SELECT event_type, app_version FROM dlq_deadletter WHERE group_id = %(group_id)s
    ORDER BY last_failed_at DESC, id DESC LIMIT %(most)s
) AS newest GROUP BY 1, 2
"""
BLOCKED = """
SELECT source, consumer, sequence_key, open_count, (
    SELECT count(*) FROM dlq_deadletter p
    WHERE p.status = 'parked' AND p.sequence_key <> ''
        AND (p.sequence_key, p.consumer, p.source) = (worst.sequence_key, worst.consumer, worst.source))
FROM (
    SELECT source, consumer, sequence_key, count(*) AS open_count FROM (
        SELECT source, consumer, sequence_key FROM dlq_deadletter
        WHERE status = 'failed' AND group_id = %(group_id)s AND sequence_key <> ''
        ORDER BY last_failed_at DESC, id DESC LIMIT %(most)s
    ) AS newest GROUP BY 1, 2, 3 ORDER BY 4 DESC, 3 LIMIT %(shown)s
) AS worst
ORDER BY open_count DESC, sequence_key
"""
FIGURES_OF = f"SELECT * FROM ({FIGURES.replace('group_id > 0', 'group_id = ANY(%(ids)s)')}) AS figures"  # noqa: S608


@dataclass(frozen=True)
class BlockedSequence:
    """A sequence that the group's open letters hold up, and how many letters wait in it."""

    source: str
    consumer: str
    key: str
    open_count: int
    parked_count: int


@dataclass(frozen=True)
class GroupDetail:
    """All that the group page shows; shares are of the newest letters, at most SAMPLE_SIZE of them."""

    row: GroupRow
    histogram: list[int]
    sampled_count: int
    event_types: list[tuple[str, int]]
    versions: list[tuple[str, int]]
    sequences: list[BlockedSequence]
    samples: list[DeadLetter]
    elsewhere: list[GroupRow]
    # Each with what was done, in words.
    activity: list[tuple[AuditEntry, str]]

    @property
    def group(self) -> FailureGroup:
        return self.row.group


def get_group(group_id: int) -> GroupDetail:
    """The group; Http404 if there is none."""
    rows = make_rows(fetch(FIGURES_OF, {"ids": [group_id]}))
    if not rows:
        raise Http404(f"There is no failure group {group_id}.")
    event_types, versions = Counter[str](), Counter[str]()
    for event_type, version, number in fetch(KINDS, {"group_id": group_id, "most": SAMPLE_SIZE}):
        event_types[event_type] += number
        versions[version] += number
    newest = DeadLetter.objects.filter(group_id=group_id).order_by("-last_failed_at", "-pk")
    return GroupDetail(
        row=rows[0],
        histogram=get_sparklines([group_id], HISTOGRAM_HOURS)[group_id],
        sampled_count=event_types.total(),
        event_types=[(name, number) for name, number in list_most(event_types) if name],
        versions=[(name, number) for name, number in list_most(versions) if name],
        sequences=list_blocked(group_id),
        samples=list(newest.select_related("body")[:SHOWN_SAMPLES]),
        elsewhere=list_elsewhere(rows[0].group),
        activity=list_activity(rows[0].group),
    )


def list_blocked(group_id: int) -> list[BlockedSequence]:
    """The sequences with most of the group's newest open letters."""
    params = {"group_id": group_id, "most": SAMPLE_SIZE, "shown": SHOWN_SEQUENCES}
    return [BlockedSequence(*row) for row in fetch(BLOCKED, params)]


def list_elsewhere(group: FailureGroup) -> list[GroupRow]:
    """Other consumers' groups with the same error."""
    same = FailureGroup.objects.filter(error_key=group.error_key).exclude(pk=group.pk).order_by("-pk")
    ids = list(same.values_list("pk", flat=True)[:SHOWN_ELSEWHERE])
    return make_rows(fetch(FIGURES_OF, {"ids": ids}))
