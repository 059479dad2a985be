"""What stands in an editor, and how it differs from the original."""

import json
from difflib import unified_diff
from typing import Any

from django.contrib.auth.models import AnonymousUser

from dlq.masking import Masker
from dlq.models import DeadLetter, Override
from dlq.overrides import find_overrides
from projections.api import NATIVE, find_event

Line = tuple[str, str]
KINDS = {"+": "added", "-": "removed", "@": "place"}


def find_payload(letter: DeadLetter) -> Any:
    """The event as it came, from the store where that is ours; None: there is none that could be edited."""
    event = find_event(letter.position) if letter.source == NATIVE and letter.position else None
    return event.data if event else Masker(AnonymousUser()).letter(letter).original.value


def find_replacement(letter: DeadLetter) -> Override | None:
    """What somebody has put in its place already; None: nobody has."""
    found = find_overrides(letter.consumer, [letter.event_id], source=letter.source).get(letter.event_id)
    return found if found and found.kind == Override.Kind.REPLACED else None


def hides_values(payload: Any, masker: Masker) -> bool:
    """Whether the editor would show what this user may not see."""
    return not masker.is_unmasked and bool(masker.masking.find_values(payload))


def write_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)


def diff(before: Any, after: Any) -> list[Line]:
    """The changed lines with a little around them, each with its kind."""
    lines = unified_diff(write_json(before).splitlines(), write_json(after).splitlines(), lineterm="", n=2)
    return [(KINDS.get(line[:1], "same"), line) for line in list(lines)[2:]]
