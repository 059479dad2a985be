"""The group page: what it is, why it is one, since when, and what it holds up."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count
from django.http import Http404

from dashboard.models import AuditEntry
from dlq.models import DeadLetter, FailureGroup
from dlq.queries.groups import FIGURES, GroupRow, fetch, get_sparklines, make_rows

# A group's newest letters stand for it where counting all of them would take long; the page says so.
SAMPLE_SIZE = 1_000
HISTOGRAM_HOURS = 7 * 24
SHOWN_SEQUENCES = 10
SHOWN_SAMPLES = 3
SHOWN_ELSEWHERE = 20
SHOWN_ACTIVITY = 50

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
    activity: list[AuditEntry]

    @property
    def group(self) -> FailureGroup:
        return self.row.group


def get_group(group_id: int) -> GroupDetail:
    """The group; Http404 if there is none."""
    rows = make_rows(fetch(FIGURES_OF, {"ids": [group_id]}))
    if not rows:
        raise Http404(f"There is no failure group {group_id}.")
    letters = DeadLetter.objects.filter(group_id=group_id)
    newest = letters.order_by("-last_failed_at", "-pk")
    sample = list(newest.values_list("event_type", "app_version")[:SAMPLE_SIZE])
    return GroupDetail(
        row=rows[0],
        histogram=get_sparklines([group_id], HISTOGRAM_HOURS)[group_id],
        sampled_count=len(sample),
        event_types=Counter(event_type for event_type, _ in sample if event_type).most_common(),
        versions=Counter(version for _, version in sample if version).most_common(),
        sequences=list_blocked(group_id),
        samples=list(newest.select_related("body")[:SHOWN_SAMPLES]),
        elsewhere=list_elsewhere(rows[0].group),
        activity=list(AuditEntry.objects.filter(subject=str(rows[0].group)).order_by("-at")[:SHOWN_ACTIVITY]),
    )


def list_blocked(group_id: int) -> list[BlockedSequence]:
    """The sequences with most of the group's newest open letters."""
    opened = DeadLetter.objects.open().filter(group_id=group_id).exclude(sequence_key="")
    newest = opened.order_by("-last_failed_at", "-pk").values_list("source", "consumer", "sequence_key")[
        :SAMPLE_SIZE
    ]
    worst = Counter(newest).most_common(SHOWN_SEQUENCES)
    keys = [key for (_, _, key), _ in worst]
    parked = DeadLetter.objects.filter(status="parked", sequence_key__in=keys).exclude(sequence_key="")
    waiting = {
        (source, consumer, key): number
        for source, consumer, key, number in parked.values_list(
            "source", "consumer", "sequence_key"
        ).annotate(number=Count("pk"))
    }
    return [BlockedSequence(*sequence, number, waiting.get(sequence, 0)) for sequence, number in worst]


def list_elsewhere(group: FailureGroup) -> list[GroupRow]:
    """Other consumers' groups with the same error."""
    same = FailureGroup.objects.filter(error_key=group.error_key).exclude(pk=group.pk).order_by("-pk")
    ids = list(same.values_list("pk", flat=True)[:SHOWN_ELSEWHERE])
    return make_rows(fetch(FIGURES_OF, {"ids": ids}))
