"""What people do with a failure group."""

from datetime import datetime

from dashboard import audit
from dlq.models import FailureGroup


def assign_group(group: FailureGroup, *, assignee: str, actor: audit.Actor) -> None:
    """Give the group to somebody, or with an empty name to nobody."""
    with audit.action("group.assign", actor=actor, subject=group) as entry:
        entry.details = {"before": group.assignee, "after": assignee}
        save(group, assignee=assignee)


def mute_group(group: FailureGroup, *, until: datetime | None, actor: audit.Actor, reason: str = "") -> None:
    """Take the group out of the open ones, until a time or (None) until somebody unmutes it."""
    with audit.action("group.mute", actor=actor, subject=group, reason=reason) as entry:
        entry.details = {"until": until.isoformat() if until else None}
        save(group, is_muted=True, muted_until=until)


def unmute_group(group: FailureGroup, *, actor: audit.Actor) -> None:
    with audit.action("group.unmute", actor=actor, subject=group):
        save(group, is_muted=False, muted_until=None)


def note_group(group: FailureGroup, *, note: str, actor: audit.Actor) -> None:
    with audit.action("group.note", actor=actor, subject=group) as entry:
        entry.details = {"before": group.note, "after": note}
        save(group, note=note)


def link_ticket(group: FailureGroup, *, ticket: str, actor: audit.Actor) -> None:
    """Link the group to a ticket by its URL, or with an empty one to none."""
    with audit.action("group.ticket", actor=actor, subject=group) as entry:
        entry.details = {"before": group.ticket, "after": ticket}
        save(group, ticket=ticket)


def save(group: FailureGroup, **changes: object) -> None:
    for name, value in changes.items():
        setattr(group, name, value)
    group.save(update_fields=list(changes))
