"""What can be done to letters, each as compare-and-set: a letter that is no longer as it was shown is left alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Case, F, Value, When
from django.db.models.functions import Now

from dlq.models import Attempt, DeadLetter
from dlq.models.letter import LetterQuerySet
from dlq.models.words import CLOSED, UNSETTLED, Resolution, Status

Statuses = tuple[Status, ...]
ANY: Statuses = tuple(Status)

# What was given up stays given up in replays and rebuilds. A replacement's payload is kept, for whoever restores it.
REMEMBER_DISCARDED = """
INSERT INTO dlq_override (source, consumer, event_id, kind, actor, reason)
SELECT source, consumer, event_id, 'discarded', %(actor)s, %(reason)s
FROM dlq_deadletter WHERE id = ANY(%(ids)s) ORDER BY event_id, consumer, source
ON CONFLICT (event_id, consumer, source) DO UPDATE SET
    kind = 'discarded', actor = excluded.actor, reason = excluded.reason, at = now()
"""

PUT_BACK_REPLACED = """
UPDATE dlq_override o SET
    kind = 'replaced', actor = %(actor)s, reason = 'put back when the letter was restored', at = now()
FROM dlq_deadletter l
WHERE l.id = ANY(%(ids)s) AND o.kind = 'discarded' AND o.payload IS NOT NULL
    AND (o.event_id, o.consumer, o.source) = (l.event_id, l.consumer, l.source)
"""

FORGET_DISCARDED = """
DELETE FROM dlq_override o USING dlq_deadletter l
WHERE l.id = ANY(%(ids)s) AND o.kind = 'discarded'
    AND (o.event_id, o.consumer, o.source) = (l.event_id, l.consumer, l.source)
"""

# A group of which letters are open again is not over: a new failure in it is no regression. Locked by id, as by all.
REOPEN_GROUPS = """
UPDATE dlq_failuregroup SET resolved_at = NULL WHERE id IN (
    SELECT g.id FROM dlq_failuregroup g
    WHERE resolved_at IS NOT NULL AND id IN (SELECT group_id FROM dlq_deadletter WHERE id = ANY(%(ids)s))
    ORDER BY g.id FOR UPDATE
)
"""

# The title stays where the error's own words cannot, as the confirmation says: the group's other letters have it too,
# and by it the letter is classified again. It is split as in cleaning.py.
ERASE_BODIES = r"""
UPDATE dlq_letterbody b SET
    payload = NULL, payload_raw = NULL, payload_size = 0, headers = '{}', stacktrace = '', masked_message = NULL,
    error_message = coalesce(g.title, ''),
    words = array_to_tsvector(array_remove(regexp_split_to_array(lower(coalesce(g.title, '')), '[\W_]+'), ''))
FROM dlq_deadletter l LEFT JOIN dlq_failuregroup g ON g.id = l.group_id
WHERE b.letter_id = l.id AND l.id = ANY(%(ids)s)
"""

# Without its payload a replacement says nothing: the consumer would get null in place of the event.
ERASE_REPLACED = """
DELETE FROM dlq_override o USING dlq_deadletter l
WHERE l.id = ANY(%(ids)s) AND o.kind = 'replaced'
    AND (o.event_id, o.consumer, o.source) = (l.event_id, l.consumer, l.source)
"""

ERASE_KEPT = """
UPDATE dlq_override o SET payload = NULL FROM dlq_deadletter l
WHERE l.id = ANY(%(ids)s) AND o.payload IS NOT NULL
    AND (o.event_id, o.consumer, o.source) = (l.event_id, l.consumer, l.source)
"""

ERASE_CONFIRMATIONS = """
UPDATE dlq_confirmation c SET error_message = '', stacktrace = '' FROM dlq_letterrunitem i
WHERE c.item_id = i.id AND i.letter_id = ANY(%(ids)s)
"""


def resolve(ids: list[int], actor: str, reason: str) -> None:
    close(ids, actor, reason, status=Status.RESOLVED, resolution=Resolution.BY_HAND)


def discard(ids: list[int], actor: str, reason: str) -> None:
    close(ids, actor, reason, status=Status.DISCARDED, resolution=Resolution.DISCARDED)
    execute(REMEMBER_DISCARDED, ids=ids, actor=actor, reason=reason)


def close(ids: list[int], actor: str, reason: str, *, status: Status, resolution: Resolution) -> None:
    DeadLetter.objects.filter(pk__in=ids).update(
        status=status, resolution=resolution, closed_by=actor, closed_at=Now(), close_reason=reason
    )


def restore(ids: list[int], actor: str, reason: str) -> None:
    """Open them again as what they were: one that never failed is parked."""
    was = Case(When(group=None, then=Value(Status.PARKED)), default=Value(Status.FAILED))
    DeadLetter.objects.filter(pk__in=ids).update(
        status=was, resolution="", closed_by="", closed_at=None, close_reason=""
    )
    execute(PUT_BACK_REPLACED, ids=ids, actor=actor)
    execute(FORGET_DISCARDED, ids=ids)
    execute(REOPEN_GROUPS, ids=ids)


def erase(ids: list[int], actor: str, reason: str) -> None:
    """Take out all that came with the event; what is left says that it failed, when, where and how."""
    execute(ERASE_BODIES, ids=ids)
    DeadLetter.objects.filter(pk__in=ids).update(erased_at=Now(), summary=F("error_type"))
    Attempt.objects.filter(letter__in=ids).update(error_message="")
    for statement in (ERASE_REPLACED, ERASE_KEPT, ERASE_CONFIRMATIONS):
        execute(statement, ids=ids)


@dataclass(frozen=True)
class Verb:
    """A verb: its action is also its permission, and its name that of the run that does it to many."""

    name: str
    done: str
    starts_from: Statuses
    apply: Callable[[list[int], str, str], None]
    needs_reason: bool = False
    is_closing: bool = False
    # Whether it is written back to the letters' source.
    writes_status: bool = False

    @property
    def action(self) -> str:
        return f"letter.{self.name}"

    def can_touch(self, letters: LetterQuerySet) -> LetterQuerySet:
        """Those of the letters that are as they must be; what is erased is erased only once."""
        found = letters.filter(status__in=self.starts_from)
        return found.filter(erased_at=None) if self.name == "erase" else found


VERBS = {
    verb.name: verb
    for verb in (
        Verb("resolve", "resolved", UNSETTLED, resolve, is_closing=True, writes_status=True),
        Verb(
            "discard", "discarded", UNSETTLED, discard, needs_reason=True, is_closing=True, writes_status=True
        ),
        Verb("restore", "restored", CLOSED, restore, writes_status=True),
        Verb("erase", "erased", ANY, erase, needs_reason=True),
    )
}


def apply(verb: Verb, ids: list[int], *, actor: str, reason: str) -> list[int]:
    """Do it to those letters that still are as they should be; returns them. Call it in a transaction."""
    letters = verb.can_touch(DeadLetter.objects.filter(pk__in=ids))
    # Everybody locks letters by id, so that nobody waits in a circle.
    touched = list(letters.select_for_update().order_by("pk").values_list("pk", flat=True))
    if touched:
        verb.apply(touched, actor, reason)
    return touched


def execute(statement: str, **params: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
