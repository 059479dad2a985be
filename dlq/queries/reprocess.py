"""What a reprocessing would touch, all counted from the plan that would be frozen."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db import connection

from breakers.api import Obstacle, find_obstacles
from dashboard.words import counted
from dlq.queries.replay import find_usual_rate
from dlq.queries.totals import list_most
from dlq.reprocess.choice import EventChoice
from dlq.targets import HandlerTarget, Health, handler
from dlq.targets.handler import find_handler
from projections.api import NATIVE, Effects, Pick, PickError

# Each event that is meant, with its fate: `taken`, or why it is left out. An event that has an open letter, or stands
# behind one, would only be held.
JUDGE = """
WITH picked AS MATERIALIZED ({picked}),
blocked AS (
    SELECT sequence_key, min(sequence_no) AS first FROM dlq_deadletter
    WHERE source = %s AND consumer = %s AND status IN ('failed', 'parked') AND sequence_key <> ''
        AND (%s = '' OR sequence_key = %s)
    GROUP BY 1
), given_up AS (
    SELECT event_id FROM dlq_override WHERE source = %s AND consumer = %s AND kind <> 'replaced'
), judged AS (
    SELECT p.position, p.stream, p.version, p.type,
        CASE WHEN g.event_id IS NOT NULL THEN 'given_up' WHEN p.standing <> '' THEN p.standing
             WHEN b.first IS NOT NULL THEN 'letter' ELSE 'taken' END AS fate
    FROM picked p
    LEFT JOIN blocked b ON b.sequence_key = p.stream AND b.first <= p.version
    LEFT JOIN given_up g ON g.event_id = p.event_id
)
"""
SUM_PLAN = """
{judged}
SELECT fate, type, count(*) FROM judged GROUP BY 1, 2
UNION ALL
SELECT '', '', count(DISTINCT stream) FROM judged WHERE fate = 'taken'
UNION ALL
SELECT 'beyond', '', coalesce(sum(number - %s), 0)::bigint FROM (
    SELECT count(*) AS number FROM judged WHERE fate = 'taken' GROUP BY stream HAVING count(*) > %s) AS long
"""


@dataclass(frozen=True)
class EventsPlan:
    """`sql` begins a statement with the table `judged`: events with their fate; `values` are its parameters."""

    pick: Pick
    sql: str
    values: list[Any]
    target: HandlerTarget


@dataclass(frozen=True)
class EventsPreview:
    """What a reprocessing would touch; `count` is what is confirmed, exactly."""

    plan: EventsPlan
    count: int
    stream_count: int
    by_event_type: list[tuple[str, int]]
    # Events that stay, by the reason.
    left_out: dict[str, int]
    health: Health
    # Breakers that are not closed and that its code has declared to use; None: Redis does not answer.
    obstacles: list[Obstacle] | None
    no_dry_run: str
    # Those of longer streams than a dry run tries together, which it holds.
    beyond_count: int
    usual_rate: float | None

    @property
    def watermark(self) -> int:
        """The last position that is looked at."""
        return self.plan.pick.until

    @property
    def is_at_least_once(self) -> bool:
        return self.plan.target.projector.effects == Effects.EXTERNAL

    @property
    def most_together(self) -> int:
        return handler.BATCH_SIZE

    @property
    def seconds(self) -> float | None:
        return self.count / self.usual_rate if self.usual_rate else None

    @property
    def title(self) -> str:
        return f"Reprocess {counted(self.count, 'event')} of {self.plan.pick.projection}"


def make_events_plan(choice: EventChoice, watermark: int | None = None) -> EventsPlan:
    """The plan; PickError if there can be none."""
    target = find_handler(NATIVE, choice.consumer)
    if target is None:
        raise PickError(f"No installed app registers a projection {choice.consumer!r}.")
    pick = choice.pick(watermark)
    values = [*pick.values, NATIVE, pick.projection, pick.stream, pick.stream, NATIVE, pick.projection]
    return EventsPlan(pick, JUDGE.replace("{picked}", pick.sql), values, target)


def preview_reprocess(choice: EventChoice) -> EventsPreview:
    plan = make_events_plan(choice)
    with connection.cursor() as cursor:
        cursor.execute(SUM_PLAN.replace("{judged}", plan.sql), [*plan.values, *[handler.BATCH_SIZE] * 2])
        rows = cursor.fetchall()
    fates, types = Counter[str](), Counter[str]()
    for fate, event_type, number in rows:
        fates[fate] += number
        if fate == "taken":
            types[event_type] += number
    beyond_count = fates.pop("beyond")
    return EventsPreview(
        plan,
        count=fates["taken"],
        stream_count=fates[""],
        by_event_type=list_most(types),
        left_out={fate: number for fate, number in fates.items() if fate not in ("", "taken")},
        health=plan.target.get_health(),
        obstacles=find_obstacles([], used_by=[choice.consumer]),
        no_dry_run=why_no_dry_run(plan),
        beyond_count=beyond_count,
        usual_rate=find_usual_rate(),
    )


def why_no_dry_run(plan: EventsPlan) -> str:
    """Empty: a dry run is possible."""
    if plan.target.supports_dry_run:
        return ""
    return f"{plan.pick.projection} declares effects outside this database, which cannot be undone."
