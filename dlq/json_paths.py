"""Paths into a JSON document, as `$.customer.email` or `$.items[*].card`."""

import json
import math
import re
from typing import Any

Path = tuple[str, ...]
# A step that means every element of an array.
EACH = "[*]"
SPELLING = re.compile(r"^\$?(?:\.?[\w-]+|\[\*\])(?:\.[\w-]+|\[\*\])*$")
STEP = re.compile(r"[\w-]+|\[\*\]")


def parse_path(text: str) -> Path:
    """The steps of a path; a spelling that we do not read raises ValueError."""
    if not SPELLING.match(text):
        raise ValueError(f"{text!r} is not a path; write it like $.customer.email or $.items[*].card.")
    return tuple(STEP.findall(text))


def overlap(one: Path, other: Path) -> bool:
    """Whether one leads to the other or into it; arrays do not count, as Postgres looks into them by itself."""
    keys = [[step for step in path if step != EACH] for path in (one, other)]
    return all(a == b for a, b in zip(*keys, strict=False))


def contains(path: Path, value: Any) -> Any:
    """The smallest document that has this value at this path, to ask Postgres who contains it."""
    for step in reversed(path):
        value = [value] if step == EACH else {step: value}
    return value


def read_value(given: str) -> list[Any]:
    """What somebody may mean by 42: the number, or the text."""
    try:
        read = json.loads(given)
    except (ValueError, RecursionError):
        return [given]
    if isinstance(read, dict | list | str) or (isinstance(read, float) and not math.isfinite(read)):
        return [given]
    return [given, read]
