"""What people do with letters, groups and rules; everything goes through `audit.action`."""

from dlq.operations.errors import ConfirmAgain, ReasonMissing
from dlq.operations.groups import assign_group, link_ticket, mute_group, note_group, unmute_group
from dlq.operations.letters import Done, handle_letters
from dlq.operations.replay import (
    ReplayRefused,
    allow_replays,
    find_replay,
    replay_followers,
    select_failed,
    start_replay,
    stop_replays,
)
from dlq.operations.reprocess import start_reprocess
from dlq.operations.rules import add_rule, apply_rules, remove_rule

__all__ = [
    "ConfirmAgain",
    "Done",
    "ReasonMissing",
    "ReplayRefused",
    "add_rule",
    "allow_replays",
    "apply_rules",
    "assign_group",
    "find_replay",
    "handle_letters",
    "link_ticket",
    "mute_group",
    "note_group",
    "remove_rule",
    "replay_followers",
    "select_failed",
    "start_replay",
    "start_reprocess",
    "stop_replays",
    "unmute_group",
]
