"""The numbers of a replay's preview, all counted from the plan that would be frozen."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Count

from dashboard.models import Run
from dlq.models import LetterRunItem
from dlq.queries.plan import OPEN, Plan, list_earlier, make_plan, why_no_dry_run
from dlq.replay.queue import chosen_sql
from dlq.selection import Selection
from dlq.sequences import find_statuses
from dlq.targets import HandlerTarget, Health
from projections.api import Effects, list_later

# A count of earlier letters stops here, and so does the look for later events.
MOST_COUNTED = 1_000

# One look at the plan: all of it, by consumer, and by event type.
SUM_PLAN = """
WITH chosen AS ({chosen})
SELECT source, consumer, event_type, count(*), count(DISTINCT (source, consumer, nullif(sequence_key, '')))
    FILTER (WHERE sequence_key <> '') + count(*) FILTER (WHERE sequence_key = ''),
    GROUPING(consumer), GROUPING(event_type)
FROM chosen GROUP BY GROUPING SETS ((), (source, consumer), (event_type))
ORDER BY 4 DESC
"""

# The first of each sequence that the plan has.
LIST_HEADS = """
WITH chosen AS ({chosen})
SELECT consumer, sequence_key, min(sequence_no) FROM chosen
WHERE source = 'native' AND sequence_key <> '' GROUP BY 1, 2 LIMIT %s
"""


@dataclass(frozen=True)
class ReplayPreview:
    """What a replay would touch; `count` is what is confirmed, exactly."""

    plan: Plan
    watermark: int
    count: int
    sequence_count: int
    follower_count: int
    by_consumer: list[tuple[str, int]]
    by_event_type: list[tuple[str, int]]
    # Counts of selected letters that are left out, by the reason.
    left_out: dict[str, int]
    in_run_count: int
    run_ids: list[int]
    # Open letters before the selected ones; capped.
    earlier_count: int
    # Events after the selected ones that their consumers are past; capped.
    later_count: int
    health: list[Health]
    no_dry_run: str
    # Letters a second of the last replay that came to its end; None: there was none.
    usual_rate: float | None

    @property
    def needs_acknowledgement(self) -> bool:
        return self.later_count > 0

    @property
    def is_at_least_once(self) -> bool:
        """Whether a target may see an event twice."""
        return any(
            not isinstance(target, HandlerTarget) or target.projector.effects == Effects.EXTERNAL
            for target in self.plan.targets.values()
        )

    @property
    def seconds(self) -> float | None:
        return self.count / self.usual_rate if self.usual_rate else None

    @property
    def title(self) -> str:
        who = self.by_consumer[0][0] if len(self.by_consumer) == 1 else f"{len(self.by_consumer)} consumers"
        return f"Replay {self.count:,} letter{'' if self.count == 1 else 's'} of {who}"


def preview_replay(selection: Selection, *, force: bool = False, with_earlier: bool = False) -> ReplayPreview:
    plan = make_plan(selection, force=force, with_earlier=with_earlier)
    statement, values = chosen_sql(plan.parts)
    rows = fetch(SUM_PLAN.replace("{chosen}", statement), values)
    consumers = [(row[1], row[3]) for row in rows if row[5] == 0]
    event_types = [(row[2], row[3]) for row in rows if row[6] == 0]
    count, sequence_count = next((row[3], row[4]) for row in rows if row[5] and row[6])
    active = LetterRunItem.objects.filter(
        is_active=True, letter__in=selection.letters.filter(status__in=OPEN).values("pk")
    )
    runs = dict(active.order_by().values_list("run_id").annotate(number=Count("pk")))
    return ReplayPreview(
        plan,
        selection.watermark,
        count=count,
        sequence_count=sequence_count,
        follower_count=plan.followers.count(),
        by_consumer=consumers,
        by_event_type=event_types,
        left_out={reason: number for reason, letters in plan.left_out.items() if (number := letters.count())},
        in_run_count=sum(runs.values()),
        run_ids=sorted(runs),
        earlier_count=0 if with_earlier else list_earlier(plan.selected).order_by()[:MOST_COUNTED].count(),
        later_count=count_later(statement, values),
        health=[target.get_health() for _, target in sorted(plan.targets.items())],
        no_dry_run=why_no_dry_run(plan),
        usual_rate=find_usual_rate(),
    )


def count_later(statement: str, values: list[Any]) -> int:
    """Later events of the sequences that were not held up: handled already, before what is to be replayed."""
    heads = fetch(LIST_HEADS.replace("{chosen}", statement), [*values, MOST_COUNTED])
    later: Counter[str] = Counter()
    for consumer in {head[0] for head in heads}:
        places = [(key, number) for owner, key, number in heads if owner == consumer]
        found = list_later(consumer, places, limit=MOST_COUNTED * 10)
        statuses = find_statuses(consumer, (event_id for _, event_id in found), source="native")
        later[consumer] = sum(statuses.get(event_id) not in OPEN for _, event_id in found)
    return min(later.total(), MOST_COUNTED)


def find_usual_rate() -> float | None:
    last = Run.objects.filter(kind="replay", state=Run.State.FINISHED).order_by("-ended_at").first()
    if last is None or not last.started_at or not last.ended_at:
        return None
    seconds = (last.ended_at - last.started_at).total_seconds()
    done = sum(lane.done_count for lane in last.lanes.all())
    return done / seconds if seconds and done else None


def fetch(statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
