import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus
from zlib import crc32

from django.conf import settings

from dlq.cleaning import Payload, clean_payload
from dlq.json_paths import EACH, Path, overlap, parse_path

MASKED = "•••"
# Shown instead of a text or payload of which we cannot say where its masked values are.
HIDDEN = "hidden: it may hold masked values"
# More values than this in one payload: the text is hidden instead of searched for each.
MOST_VALUES = 200
# Characters of a text times values: more take longer than a page may, and the text is hidden, too.
MOST_COMPARED = 20_000_000
# No rules have this key, so a text that carries it is trusted by nobody: it came without the event that it speaks of.
UNMASKED = -1
# A value of fewer characters is too common inside words to be taken out of them.
SHORT = 4
PLACE = re.compile(r"-?[0-9]+")


class Masking:
    """The configured paths and what they do to a document and to a text."""

    def __init__(self, spellings: list[str]) -> None:
        self.paths = [parse_path(spelling) for spelling in spellings]
        # Zero: nothing is masked. It says under which rules a stored text was made.
        self.key = crc32("\n".join(sorted(spellings)).encode()) >> 1 if spellings else 0

    def covers(self, path: Path) -> bool:
        """Whether asking for this path would tell something about a masked one."""
        return any(overlap(path, masked) for masked in self.paths)

    def find_values(self, document: Any) -> list[Any]:
        return [value for path in self.paths for value in walk(document, path)]

    def mask_document(self, document: Any) -> Any:
        """A copy with the masked values replaced, whatever they were: even null looks like the others."""
        for path in self.paths:
            document = replace(document, path)
        return document

    def mask_text(self, text: str, payload: Payload) -> str:
        """The text without the payload's masked values; hidden as a whole if they cannot be known."""
        if not self.paths or not text or payload.size == 0:
            return text
        if not payload.is_readable:
            return HIDDEN
        spellings = {spelling for value in self.find_values(payload.value) for spelling in spell(value)}
        if len(spellings) > MOST_VALUES or len(text) * len(spellings) > MOST_COMPARED:
            return HIDDEN
        return replace_words(text, spellings)


def get_masking() -> Masking:
    return make_masking(tuple(settings.MASKED_PATHS))


@lru_cache(maxsize=8)
def make_masking(spellings: tuple[str, ...]) -> Masking:
    return Masking(list(spellings))


def find_masked(path: str) -> str:
    """The masked path of which a value at this one would tell something; empty: there is none.

    Here a number may be a place in an array, of which masking says only that it is one.
    """
    steps = parse_path(path)
    keys = tuple(step for step in steps if not PLACE.fullmatch(step))
    covers = (one for one in settings.MASKED_PATHS if any(overlap(p, parse_path(one)) for p in (steps, keys)))
    return next(covers, "")


def mask_error(text: str, event: Any) -> str:
    """The text of an error without the masked values of the event that it is about, to be shown to everybody."""
    masking = get_masking()
    return masking.mask_text(text, clean_payload(event)) if masking.paths else text


def walk(document: Any, path: Path) -> Iterator[Any]:
    if not path:
        yield document
    elif path[0] == EACH:
        for child in document if isinstance(document, list) else ():
            yield from walk(child, path[1:])
    elif isinstance(document, dict) and path[0] in document:
        yield from walk(document[path[0]], path[1:])


def replace(document: Any, path: Path) -> Any:
    if not path:
        return MASKED
    if path[0] == EACH and isinstance(document, list):
        return [replace(child, path[1:]) for child in document]
    if isinstance(document, dict) and path[0] in document:
        return document | {path[0]: replace(document[path[0]], path[1:])}
    return document


def spell(value: Any) -> Iterator[str]:
    """The ways in which a value, or what is inside it, is written in an error text."""
    if isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from spell(child)
    elif isinstance(value, str) and value.strip():
        for text in {value, value.strip()}:
            yield from (text, repr(text)[1:-1], quote(text), quote_plus(text))
            # Python writes JSON in ASCII, most others do not.
            yield from (json.dumps(text, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False))
    elif isinstance(value, bool):
        yield str(value)
    elif isinstance(value, int | float):
        yield from spell_number(value)


def spell_number(value: int | float) -> Iterator[str]:
    """With commas and cents or without; a whole number may be too large to be formatted as a float."""
    if isinstance(value, float):
        yield from (str(value), f"{value:,}", f"{value:.2f}", f"{value:,.2f}")
    if isinstance(value, int) or value.is_integer():
        whole = int(value)
        yield from (f"{whole}", f"{whole:,}", f"{whole}.00", f"{whole:,}.00")


def replace_words(text: str, spellings: set[str]) -> str:
    """Take each spelling out, longest first, whatever its case; a short one only where it is a word of its own."""
    if not spellings:
        return text
    patterns = (
        re.escape(spelling) if len(spelling) >= SHORT else rf"(?<!\w){re.escape(spelling)}(?!\w)"
        for spelling in sorted(spellings, key=len, reverse=True)
    )
    # With its quotes: which ones were chosen tells what is between them.
    quoted = "|".join(f"[\"']?{pattern}[\"']?" for pattern in patterns)
    return re.sub(quoted, MASKED, text, flags=re.IGNORECASE)
