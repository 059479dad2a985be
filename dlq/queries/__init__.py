"""Where every number and row on the dead letters' pages comes from."""

from dlq.queries.group import GroupDetail, get_group
from dlq.queries.groups import TABS, GroupPage, GroupRow, count_tabs, list_groups
from dlq.queries.letter import LetterDetail, find_letter, find_stored, get_letter
from dlq.queries.letters import Count, LetterPage, count_letters, finds_none, list_letters
from dlq.queries.live_runs import find_group_runs, find_live_runs
from dlq.queries.rules import find_runbook, list_shipped_rules
from dlq.queries.totals import list_facets, open_totals

__all__ = [
    "TABS",
    "Count",
    "GroupDetail",
    "GroupPage",
    "GroupRow",
    "LetterDetail",
    "LetterPage",
    "count_letters",
    "count_tabs",
    "find_group_runs",
    "find_letter",
    "find_live_runs",
    "find_runbook",
    "find_stored",
    "finds_none",
    "get_group",
    "get_letter",
    "list_facets",
    "list_groups",
    "list_letters",
    "list_shipped_rules",
    "open_totals",
]
