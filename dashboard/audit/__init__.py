"""The one way to act: `with audit.action(...)` opens the transaction and writes the entry.

If the process dies
- inside the block: the transaction is rolled back, the action did not happen and there is no entry;
- after the block: both are committed, whether or not anybody gets to see the answer.
A block that raises is rolled back, and its failure is written in a transaction of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models, transaction

from dashboard.actions import get_action
from dashboard.addresses import current_address
from dashboard.models import AuditEntry
from dashboard.words import say_error

Actor = AbstractBaseUser | AnonymousUser | str

# The longest subject that a row holds; names from outside may be longer.
SUBJECT_LENGTH = 200


@dataclass
class Entry:
    """What the block adds to its entry while it runs."""

    subject: models.Model | str = ""
    details: dict[str, Any] = field(default_factory=dict)


@contextmanager
def action(name: str, *, actor: Actor, subject: models.Model | str = "", reason: str = "") -> Iterator[Entry]:
    """Open a transaction for the named action and leave an entry, whatever becomes of it."""
    get_action(name)
    entry = Entry(subject)
    try:
        with transaction.atomic():
            yield entry
            write(name, actor=actor, entry=entry, reason=reason)
    except Exception as error:
        entry.details |= {"error": say_error(error)}
        write(name, actor=actor, entry=entry, reason=reason, outcome=AuditEntry.Outcome.FAILED)
        raise


def record(
    name: str,
    *,
    actor: Actor,
    subject: models.Model | str = "",
    reason: str = "",
    outcome: AuditEntry.Outcome = AuditEntry.Outcome.SUCCEEDED,
    **details: Any,
) -> None:
    """Note something that has no transaction of its own, such as signing in, or that is part of another one."""
    write(get_action(name).name, actor=actor, entry=Entry(subject, details), reason=reason, outcome=outcome)


def write(
    name: str,
    *,
    actor: Actor,
    entry: Entry,
    reason: str = "",
    outcome: AuditEntry.Outcome = AuditEntry.Outcome.SUCCEEDED,
) -> None:
    AuditEntry.objects.create(
        actor=str(actor),
        action=name,
        outcome=outcome,
        subject=str(entry.subject)[:SUBJECT_LENGTH],
        reason=reason,
        details=entry.details,
        address=current_address(),
    )
