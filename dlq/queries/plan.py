"""Which letters a replay takes along, and which it leaves out; the preview and the freeze both ask here."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import EmptyResultSet

from dlq.models import DeadLetter
from dlq.models.words import UNSETTLED
from dlq.selection import Selection
from dlq.targets import AnyTarget, HandlerTarget, find_target, get_confirmation_time

COLUMNS = (
    *("id", "source", "consumer", "event_type", "sequence_key", "sequence_no", "status", "tier"),
    *("offers_replay", "erased_at"),
)
# What a replay takes: what is selected, what is parked behind it, and if wanted what stands before it.
TAKEN, FOLLOWER, EARLIER = "taken", "follower", "earlier"
# What stands before it and cannot come along, for the reasons for which it would stay if it were selected.
IN_FRONT = "in_front"
# What an active run has: of the selected, and of the others of their sequences.
IN_RUN, ELSEWHERE = "in_run", "elsewhere"

# Each letter that the selection touches, with its fate. `left_at` is the first of a sequence that is selected and
# stays: what stands behind it would only be held, so it stays too.
JUDGE = """
nowhere AS (SELECT * FROM unnest(%s::text[], %s::text[]) AS t(source, consumer)),
dropping AS (SELECT * FROM unnest(%s::text[], %s::text[], %s::float[]) AS t(source, consumer, seconds)),
picked AS MATERIALIZED (
    SELECT l.id, l.source, l.consumer, l.event_type, l.sequence_key, l.sequence_no, ARRAY[l.sequence_no, l.id] AS place,
        CASE WHEN i.id IS NOT NULL THEN 'in_run'
             WHEN (l.source, l.consumer) IN (SELECT source, consumer FROM nowhere) THEN 'no_target'
             WHEN l.erased_at IS NOT NULL THEN 'erased'
             WHEN NOT %s AND l.tier = 'poison' THEN 'poison'
             WHEN NOT %s AND NOT l.offers_replay THEN 'not_offered'
             WHEN EXISTS (
                SELECT 1 FROM dropping d JOIN dlq_letterrunitem s ON s.letter_id = l.id
                WHERE (d.source, d.consumer) = (l.source, l.consumer)
                    AND s.outcome IN ('succeeded', 'sent', 'unconfirmed')
                    AND s.at > now() - make_interval(secs => d.seconds)) THEN 'recent'
             ELSE 'taken' END AS fate
    FROM ({selected}) AS l LEFT JOIN dlq_letterrunitem i ON i.letter_id = l.id AND i.is_active
    WHERE l.status IN ('failed', 'parked')
), sequences AS (
    SELECT source, consumer, sequence_key,
        min(place) FILTER (WHERE fate NOT IN ('taken', 'in_run')) AS left_at,
        min(place) FILTER (WHERE fate = 'taken') AS first, max(place) FILTER (WHERE fate = 'taken') AS last
    FROM picked WHERE sequence_key <> '' GROUP BY 1, 2, 3
), others AS (
    SELECT l.id, l.source, l.consumer, l.event_type, l.sequence_key, l.sequence_no,
        CASE WHEN i.id IS NOT NULL THEN 'elsewhere'
             WHEN l.status = 'parked' AND ARRAY[l.sequence_no, l.id] > s.first THEN 'follower'
             WHEN l.erased_at IS NOT NULL OR NOT %s AND (l.tier = 'poison' OR NOT l.offers_replay) THEN 'in_front'
             ELSE 'earlier' END AS fate
    FROM sequences s
    JOIN dlq_deadletter l ON l.sequence_key = s.sequence_key AND l.consumer = s.consumer AND l.source = s.source
        AND l.sequence_key <> '' AND l.status IN ('failed', 'parked')
    LEFT JOIN dlq_letterrunitem i ON i.letter_id = l.id AND i.is_active
    WHERE l.id <= %s AND s.first IS NOT NULL
        AND (s.left_at IS NULL OR ARRAY[l.sequence_no, l.id] < s.left_at)
        AND (i.id IS NOT NULL OR l.status = 'parked' AND ARRAY[l.sequence_no, l.id] > s.first
             OR ARRAY[l.sequence_no, l.id] < s.last)
), judged AS (
    -- Picked letters are among the others too; sorting them together needs no guess about their number.
    SELECT DISTINCT ON (id) * FROM (
        SELECT p.id, p.source, p.consumer, p.event_type, p.sequence_key, p.sequence_no,
            CASE WHEN p.fate = 'taken' AND p.place > s.left_at THEN 'behind' ELSE p.fate END AS fate, true AS is_picked
        FROM picked p
        LEFT JOIN sequences s ON (s.source, s.consumer, s.sequence_key) = (p.source, p.consumer, p.sequence_key)
        UNION ALL SELECT *, false FROM others
    ) AS all_of_them
    ORDER BY id, is_picked DESC
)
"""


@dataclass(frozen=True)
class Plan:
    """`sql` begins a statement with the table `judged`: letters with their fate; `values` are its parameters."""

    sql: str
    values: list[Any]
    fates: list[str]
    targets: dict[tuple[str, str], AnyTarget]

    @property
    def confirms(self) -> bool:
        """Whether a target will tell later what became of what it took."""
        return any(get_confirmation_time(target) is not None for target in self.targets.values())

    def only(self, keys: Iterable[tuple[str, ...]]) -> "Plan":
        """With the targets of these sources and consumers alone."""
        wanted = set(keys)
        return replace(self, targets={key: one for key, one in self.targets.items() if key in wanted})


def make_plan(selection: Selection, *, force: bool = False, with_earlier: bool = False) -> Plan:
    """`force` takes poison too, and what is not offered for replay; `with_earlier` what stands before the selected."""
    letters = selection.letters.filter(status__in=UNSETTLED)
    found = {
        key: find_target(*key) for key in letters.order_by().values_list("source", "consumer").distinct()
    }
    nowhere = [key for key, target in found.items() if target is None]
    targets = {key: target for key, target in found.items() if target}
    dropping = [(*key, target.dedup_seconds) for key, target in targets.items() if target.dedup_seconds]
    try:
        selected, params = selection.letters.order_by().values_list(*COLUMNS).query.sql_with_params()
    except EmptyResultSet:
        selected, params = DeadLetter.objects.filter(pk=0).values_list(*COLUMNS).query.sql_with_params()
    values = [*columns(nowhere, 2), *columns(dropping, 3), force, force, *params, force, selection.watermark]
    fates = [TAKEN, FOLLOWER, EARLIER] if with_earlier else [TAKEN, FOLLOWER]
    return Plan(f"WITH {JUDGE.replace('{selected}', selected)}", values, fates, targets)


def columns(rows: list[Any], number: int) -> list[list[Any]]:
    return [[row[n] for row in rows] for n in range(number)]


def why_no_dry_run(plan: Plan) -> str:
    """Empty: a dry run is possible."""
    for (_, consumer), target in sorted(plan.targets.items()):
        if not isinstance(target, HandlerTarget):
            return f"{consumer} is replayed to {target.name}, and what is sent there cannot be undone."
        if not target.supports_dry_run:
            return f"{consumer} declares effects outside this database, which cannot be undone."
    return ""
