"""What people did with a failure group, each in a sentence that goes on after their name."""

from datetime import datetime
from typing import Any

from dashboard.actions import find_action
from dashboard.models import AuditEntry
from dashboard.words import clock, counted
from dlq.models import FailureGroup

SHOWN_ACTIVITY = 50
# To its letters, by the action; those of a large group are a run and stand with the runs.
DONE = {
    "letter.resolve": "closed {} as dealt with elsewhere",
    "letter.discard": "gave {} up",
    "letter.restore": "opened {} again",
    "letter.erase": "erased the payload of {}",
}


def list_activity(group: FailureGroup) -> list[tuple[AuditEntry, str]]:
    """What was done, newest first; what was refused changed nothing, and stands in the audit trail alone."""
    done = AuditEntry.objects.filter(subject=str(group), outcome=AuditEntry.Outcome.SUCCEEDED)
    return [(entry, describe(entry.action, entry.details)) for entry in done.order_by("-at")[:SHOWN_ACTIVITY]]


def describe(action: str, details: dict[str, Any]) -> str:
    after, number = details.get("after"), details.get("count", 0)
    if action in DONE:
        return DONE[action].format(counted(number, "letter"))
    match action:
        case "group.assign":
            return f"gave it to {after or 'nobody'}"
        case "group.mute":
            until = details["until"]
            return (
                f"muted it until {clock(datetime.fromisoformat(until)) if until else 'somebody unmutes it'}"
            )
        case "group.unmute":
            return "unmuted it"
        case "group.note":
            return "wrote its note" if after else "took its note away"
        case "group.ticket":
            return f"linked it to {after}" if after else "took its ticket away"
    # By its name where the code that did it is no longer installed.
    found = find_action(action)
    return f"did this: {found.description if found else action}"
