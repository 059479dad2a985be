"""What stands in an editor, and how it differs from the original."""

import json
import re
from difflib import unified_diff
from typing import Any

from django.contrib.auth.models import AnonymousUser

from dashboard.bidi import CONTROL
from dlq.cleaning import MOST_DEPTH, is_storable, refuse
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
    """What would turn the text round is written as its number: an editor shows no element in which it would end."""
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
    return re.sub(CONTROL, lambda found: f"\\u{ord(found[0]):04x}", text)


def read_payload(text: str) -> Any:
    """What stands in the editor; a ValueError says where it is no JSON, or why it could not be kept."""
    cannot_be_kept = ValueError(
        "This cannot be kept as JSON: it has NaN, Infinity, \\u0000 or half a character in it, a number that is too"
        f" large, or more than {MOST_DEPTH} levels."
    )
    try:
        value = json.loads(text, parse_constant=refuse)
        # A number beyond what a float can hold was read as infinity.
        json.dumps(value, allow_nan=False)
    except json.JSONDecodeError as error:
        # Python ends some of them with the words that its own line and column would follow.
        what = (error.msg[:1].lower() + error.msg[1:]).removesuffix(" at").removesuffix(" starting")
        raise ValueError(f"This is not JSON: line {error.lineno}, column {error.colno}, {what}.") from None
    except (ValueError, RecursionError):
        raise cannot_be_kept from None
    if not is_storable(text, value):
        raise cannot_be_kept
    return value


def diff(before: Any, after: Any) -> list[Line]:
    """The changed lines with a little around them, each with its kind; of what cannot be edited there are none."""
    original = [] if before is None else write_json(before).splitlines()
    lines = unified_diff(original, write_json(after).splitlines(), lineterm="", n=2)
    return [(KINDS.get(line[:1], "same"), line) for line in list(lines)[2:]]
