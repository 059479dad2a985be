"""What people do with letters, groups and rules; everything goes through `audit.action`."""

from dlq.operations.errors import ConfirmAgain, ReasonMissing
from dlq.operations.groups import assign_group, link_ticket, mute_group, note_group, unmute_group
from dlq.operations.letters import Done, handle_letters
from dlq.operations.rules import add_rule, apply_rules, remove_rule

__all__ = [
    "ConfirmAgain",
    "Done",
    "ReasonMissing",
    "add_rule",
    "apply_rules",
    "assign_group",
    "handle_letters",
    "link_ticket",
    "mute_group",
    "note_group",
    "remove_rule",
    "unmute_group",
]
