"""Whether a target's table in redrive.toml makes sense, before anything is sent there."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from dashboard.config import refuse_unknown
from dashboard.words import agree

# Not keys: its own name, and the kind that was read already.
NO_KEYS = {"name", "kind"}


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def is_whole_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def is_headers(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


# By what a field holds: what can be written there.
SHAPES: dict[Any, tuple[Callable[[Any], bool], str]] = {
    str: (is_text, "text"),
    float: (is_number, "a number of seconds above 0"),
    int: (is_whole_number, "a whole number of seconds"),
    Mapping[str, str]: (is_headers, 'a table of text, such as { X-Team = "orders" }'),
}


def check_table(where: str, kind: type, values: dict[str, Any]) -> None:
    """Refuse keys that mean nothing, values of the wrong kind, and a table that lacks what is needed."""
    known: dict[str, Field[Any]] = {field.name: field for field in fields(kind) if field.name not in NO_KEYS}
    refuse_unknown(values, known, where)
    missing = [name for name, field in known.items() if is_needed(field) and name not in values]
    if missing:
        raise ImproperlyConfigured(f"{where} needs {' and '.join(missing)}.")
    for name, value in values.items():
        is_right, what = SHAPES[known[name].type]
        # What would be taken anyway can also be written, such as an empty text.
        if value != known[name].default and not is_right(value):
            # A secret may stand anywhere in text and tables; a number or a truth value is none, but in `secret`.
            is_told = isinstance(value, int | float) and name != "secret"
            raise ImproperlyConfigured(
                f"{where} {name} is {repr(value) if is_told else describe(value)}; write {what}."
            )


def describe(value: Any) -> str:
    """What it is, without repeating it."""
    if isinstance(value, dict):
        wrong = [key for key, one in value.items() if not isinstance(one, str)]
        return f"a table in which {' and '.join(wrong)} {agree(len(wrong), 'is', 'are')} no text"
    if value == "":
        return "empty"
    return {str: "text", list: "a list", int: "a number", float: "a number"}.get(
        type(value), "something else"
    )


def is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING
