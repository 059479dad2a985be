from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

import django_tables2 as tables

from dashboard.actions import find_action
from dashboard.columns import BadgeColumn, TemplateCell, TimeColumn
from dashboard.models import AuditEntry
from dashboard.words import absolute

OUTCOME_TONES = {AuditEntry.Outcome.SUCCEEDED: "good", AuditEntry.Outcome.FAILED: "bad"}

WORDS = {True: "yes", False: "no", None: "none", "": "nothing"}
# What none means of these.
UNSET = {"pace": "unlimited", "stop after": "never"}


class AuditTable(tables.Table):
    at = TimeColumn(verbose_name="When")
    actor = tables.Column(verbose_name="Who", attrs={"td": {"class": "name"}})
    action = tables.Column(verbose_name="Did what", attrs={"td": {"class": "mono nowrap"}})
    subject = tables.Column(verbose_name="To what", attrs={"td": {"class": "name"}})
    outcome = BadgeColumn(OUTCOME_TONES)
    details = TemplateCell("audit/_details_cell.html", verbose_name="Why and how", empty_values=())
    address = tables.Column(verbose_name="Address", attrs={"td": {"class": "mono dim nowrap"}})

    class Meta:
        orderable = False
        default = "–"
        row_attrs = {"id": lambda record: f"entry-{record.pk}"}

    def context_details(self, record: AuditEntry) -> dict[str, Any]:
        action = find_action(record.action)
        return {
            "entry": record,
            "details": list(name_details(record.details)),
            "description": action.description if action else "Not installed any more.",
        }


def name_details(details: dict[str, Any], within: str = "") -> Iterator[str]:
    """Each as "name: value" in words; of one in another, both names."""
    for name, value in details.items():
        name = f"{within}{name.replace('_', ' ')}"
        if isinstance(value, dict):
            yield from name_details(value, f"{name} ")
        else:
            yield f"{name}: {UNSET.get(name, say(value)) if value is None else say(value)}"


def say(value: Any) -> str:
    """As other pages say it: a time in the console's zone, many things as a list."""
    if isinstance(value, list):
        return ", ".join(map(say, value)) or "none"
    if isinstance(value, bool | str | None) and value in WORDS:
        return WORDS[value]
    return (say_time(value) if isinstance(value, str) else None) or str(value)


def say_time(text: str) -> str | None:
    """None: it is no point in time, as a date alone and what names no zone, or none that the console's zone has."""
    with suppress(ValueError, OverflowError):
        found = datetime.fromisoformat(text)
        return absolute(found) if found.tzinfo else None
    return None
