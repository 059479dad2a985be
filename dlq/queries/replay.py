"""The numbers of a replay's preview, all counted from the plan that would be frozen."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db import connection

from breakers.api import Obstacle, find_obstacles
from dashboard.models import Run
from dashboard.words import counted
from dlq.items import count_by_run
from dlq.queries import copies
from dlq.queries.plan import (
    EARLIER,
    ELSEWHERE,
    FOLLOWER,
    IN_FRONT,
    IN_RUN,
    TAKEN,
    Plan,
    make_plan,
    why_no_dry_run,
)
from dlq.queries.totals import list_most
from dlq.selection import Selection
from dlq.targets import HandlerTarget, Health, handler
from projections.api import LATER_EVENTS, NATIVE, Effects

# How fast it will go is told from the last replays, and only from those that were more than a few letters.
LOOKED_AT_RUNS = 20
LONG_ENOUGH = 100
# Counts of later events and of replaced payloads stop here.
MOST_LATER = MOST_REPLACED = 10_000

# Later events that no open or parked letter accounts for, of all sequences that the plan has; capped.
LATER = f""", heads AS MATERIALIZED (
    SELECT consumer, sequence_key AS stream, min(sequence_no) AS first, count(*) - 1 AS behind
    FROM judged WHERE fate = ANY(%s) AND source = '{NATIVE}' AND sequence_key <> '' GROUP BY 1, 2
), later AS ({LATER_EVENTS}), unaccounted AS (
    SELECT FROM later e WHERE NOT EXISTS (
        SELECT FROM dlq_deadletter l WHERE l.event_id = e.event_id AND l.consumer = e.consumer
            AND l.source = '{NATIVE}' AND l.status IN ('failed', 'parked'))
    LIMIT {MOST_LATER + 1}
)"""  # noqa: S608
# Whose letters are taken.
TAKES = "{judged} SELECT DISTINCT source, consumer FROM judged WHERE fate = ANY(%s)"
COUNT_LATER = f"{{judged}}{LATER} SELECT count(*) FROM unaccounted"  # noqa: S608

# One look at all that the selection touches; in what is taken, a sequence counts once. Of what other runs have, that
# which stands before something taken, by the run.
SUM_PLAN = f"""{{judged}}{LATER}, ends AS (
    SELECT source, consumer, sequence_key, max(ARRAY[sequence_no, id]) AS last, count(*) AS number
    FROM judged WHERE fate = ANY(%s) AND sequence_key <> '' GROUP BY 1, 2, 3
)
SELECT fate, source, consumer, event_type, count(*) FROM judged GROUP BY 1, 2, 3, 4
UNION ALL
SELECT 'sequences', '', '', '', count(DISTINCT (source, consumer, sequence_key)) FILTER (WHERE sequence_key <> '')
    + count(*) FILTER (WHERE sequence_key = '')
FROM judged WHERE fate = ANY(%s)
UNION ALL
SELECT 'later', '', '', '', count(*) FROM unaccounted
UNION ALL
SELECT 'beyond', '', '', '', coalesce(sum(number - %s), 0)::bigint FROM ends WHERE number > %s
UNION ALL
SELECT 'ahead', i.run_id::text, '', '', count(*)
FROM judged j
JOIN ends e ON (e.source, e.consumer, e.sequence_key) = (j.source, j.consumer, j.sequence_key)
JOIN dlq_letterrunitem i ON i.letter_id = j.id AND i.is_active
WHERE j.fate IN ('in_run', 'elsewhere') AND ARRAY[j.sequence_no, j.id] < e.last GROUP BY 2
UNION ALL
SELECT CASE WHEN l.tier = 'poison' THEN 'forced_poison' ELSE 'forced_not_offered' END, '', '', '', count(*)
FROM judged j JOIN dlq_deadletter l ON l.id = j.id
WHERE %s AND j.fate = ANY(%s) AND (l.tier = 'poison' OR NOT l.offers_replay) GROUP BY 1
UNION ALL
SELECT 'replaced', '', '', '', count(*) FROM (
    SELECT FROM judged j JOIN dlq_deadletter l ON l.id = j.id
    JOIN dlq_override o ON (o.event_id, o.consumer, o.source) = (l.event_id, l.consumer, l.source)
    WHERE j.fate = ANY(%s) AND o.kind = 'replaced' LIMIT {MOST_REPLACED + 1}
) AS replaced
UNION ALL
{copies.ONLY_COPIES}"""  # noqa: S608


@dataclass(frozen=True)
class ReplayPreview:
    """What a replay would touch; `count` is what is confirmed, exactly."""

    plan: Plan
    watermark: int
    count: int
    sequence_count: int
    by_consumer: list[tuple[str, int]]
    by_event_type: list[tuple[str, int]]
    # All that the selection touches, by its fate; see queries/plan.py.
    fates: Counter[str]
    run_ids: list[int]
    # Open letters before the taken ones that active runs have, selected or not, by the run.
    ahead: dict[int, int]
    # Events after the selected ones that their consumers are past; counted up to MOST_LATER.
    later_count: int
    # Those that are the only copy of their event; counted up to MOST_COPIES.
    only_copy_count: int
    # Those whose payload somebody replaced; counted up to MOST_REPLACED.
    replaced_count: int
    # What is taken only because somebody insists, by the reason for which it would stay.
    forced: dict[str, int]
    health: list[Health]
    # Breakers that are not closed, of targets or declared by the consumers' code; None: Redis does not answer.
    obstacles: list[Obstacle] | None
    no_dry_run: str
    # Those of longer sequences than a dry run tries together, which it holds.
    beyond_count: int
    # Letters a second; None: nobody can tell.
    usual_rate: float | None

    @property
    def is_refused(self) -> bool:
        """Whether a run could not be started, whatever is chosen."""
        return any(one.refuses for one in self.health)

    @property
    def follower_count(self) -> int:
        return self.fates[FOLLOWER]

    @property
    def earlier_count(self) -> int:
        """Open letters before the selected ones that are not taken."""
        return 0 if EARLIER in self.plan.fates else self.fates[EARLIER]

    @property
    def in_front_count(self) -> int:
        """Open letters before the selected ones that cannot be taken along."""
        return self.fates[IN_FRONT]

    @property
    def ahead_count(self) -> int:
        return sum(self.ahead.values())

    @property
    def ahead_run_ids(self) -> list[int]:
        return list(self.ahead)

    @property
    def in_run_count(self) -> int:
        return self.fates[IN_RUN]

    @property
    def left_out(self) -> dict[str, int]:
        """Selected letters that stay, by the reason."""
        other = {TAKEN, FOLLOWER, EARLIER, IN_FRONT, IN_RUN, ELSEWHERE}
        return {fate: number for fate, number in self.fates.items() if fate not in other}

    @property
    def parks(self) -> bool:
        """Whether live consumption may park more behind them while they are replayed."""
        return any(isinstance(target, HandlerTarget) for target in self.plan.targets.values())

    @property
    def is_at_least_once(self) -> bool:
        """Whether a target may see an event twice."""
        return any(
            not isinstance(target, HandlerTarget) or target.projector.effects == Effects.EXTERNAL
            for target in self.plan.targets.values()
        )

    @property
    def later_label(self) -> str:
        return f"over {MOST_LATER:,}" if self.later_count > MOST_LATER else f"{self.later_count:,}"

    @property
    def only_copy_label(self) -> str:
        most = copies.MOST_COPIES
        return f"Over {most:,}" if self.only_copy_count > most else f"{self.only_copy_count:,}"

    @property
    def replaced_label(self) -> str:
        return (
            f"over {MOST_REPLACED:,}" if self.replaced_count > MOST_REPLACED else f"{self.replaced_count:,}"
        )

    @property
    def most_together(self) -> int:
        return handler.BATCH_SIZE

    @property
    def seconds(self) -> float | None:
        return self.count / self.usual_rate if self.usual_rate else None

    @property
    def title(self) -> str:
        who = self.by_consumer[0][0] if len(self.by_consumer) == 1 else f"{len(self.by_consumer)} consumers"
        return f"Replay {counted(self.count, 'letter')} of {who}"


def preview_replay(selection: Selection, *, force: bool = False, with_earlier: bool = False) -> ReplayPreview:
    plan = make_plan(selection, force=force, with_earlier=with_earlier)
    values = [
        plan.fates,
        plan.fates,
        plan.fates,
        *[handler.BATCH_SIZE] * 2,
        force,
        plan.fates,
        plan.fates,
        *copies.list_values(plan.fates),
    ]
    rows = fetch(SUM_PLAN, plan, values)
    ahead = {int(run_id): number for fate, run_id, _, _, number in rows if fate == "ahead"}
    fates, consumers, event_types = Counter[str](), Counter[str](), Counter[str]()
    takes = set()
    for fate, source, consumer, event_type, number in rows:
        fates[fate] += number
        if fate in plan.fates:
            takes.add((source, consumer))
            consumers[consumer] += number
            event_types[event_type] += number
    fates.pop("ahead", 0)
    sequence_count, later_count = fates.pop("sequences"), fates.pop("later")
    beyond_count = fates.pop("beyond")
    only_copy_count, replaced_count = fates.pop("only_copies"), fates.pop("replaced")
    forced = {name: fates.pop(f"forced_{name}", 0) for name in ("poison", "not_offered")}
    plan = plan.only(takes)
    return ReplayPreview(
        plan,
        selection.watermark,
        count=sum(fates[fate] for fate in plan.fates),
        sequence_count=sequence_count,
        by_consumer=list_most(consumers),
        by_event_type=list_most(event_types),
        fates=fates,
        run_ids=list(count_by_run(selection.letters)) if fates[IN_RUN] else [],
        ahead=dict(sorted(ahead.items())),
        later_count=later_count,
        only_copy_count=only_copy_count,
        replaced_count=replaced_count,
        forced={name: number for name, number in forced.items() if number},
        # Several consumers may share a target, which is asked once: one that is away takes its time.
        health=[
            target.get_health()
            for target in {one.name: one for _, one in sorted(plan.targets.items())}.values()
        ],
        obstacles=find_obstacles(
            (target.name for target in plan.targets.values()), used_by=(name for _, name in plan.targets)
        ),
        no_dry_run=why_no_dry_run(plan),
        beyond_count=beyond_count,
        usual_rate=find_usual_rate(),
    )


def narrow(plan: Plan) -> Plan:
    """The plan with the targets alone that get a letter: one whose letters all stay has no say."""
    # Of one target there is nothing to tell apart: if its letters stay, there is no replay.
    return plan.only(fetch(TAKES, plan, [plan.fates])) if len(plan.targets) > 1 else plan


def count_later(plan: Plan) -> int:
    """Later events of the sequences that were not held up: handled already, before what is to be replayed; capped."""
    [(number,)] = fetch(COUNT_LATER, plan, [plan.fates])
    return int(number)


def find_usual_rate() -> float | None:
    """Letters a second of the best of the last replays that were long enough to tell; None: there was none."""
    last = Run.objects.filter(kind="replay", state=Run.State.FINISHED, options__pace=None).order_by(
        "-created_at"
    )
    rates = [
        lane_sum / (run.ended_at - run.started_at).total_seconds()
        for run in last.prefetch_related("lanes")[:LOOKED_AT_RUNS]
        if run.started_at and run.ended_at and run.ended_at > run.started_at
        for lane_sum in [sum(lane.done_count for lane in run.lanes.all())]
        if lane_sum >= LONG_ENOUGH
    ]
    return max(rates, default=None)


def fetch(statement: str, plan: Plan, values: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement.replace("{judged}", plan.sql), [*plan.values, *values])
        return list(cursor.fetchall())
