"""Values that most people must not see, at configured paths of the payload; one Masker serves every page.

A masked value is taken out of the error's text as well, when the letter is recorded: summary, title, fingerprint
and search words are made of the masked text, for everybody, so that none of them tells two values apart.
A letter that was recorded under other masking rules shows no text at all to those who may not unmask.
"""

import json
import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import quote
from zlib import crc32

from django.conf import settings

from dashboard.access import may
from dlq.cleaning import Payload, clean_payload
from dlq.json_paths import EACH, Path, overlap, parse_path
from dlq.models import DeadLetter, FailureGroup

MASKED = "•••"
# Shown instead of a text or payload of which we cannot say where its masked values are.
HIDDEN = "hidden: it may hold masked values"
# More values than this in one payload: the text is hidden instead of searched for each.
MOST_VALUES = 200
# A value of fewer characters is too common inside words to be taken out of them.
SHORT = 4


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
        if len(spellings) > MOST_VALUES:
            return HIDDEN
        return replace_words(text, spellings)


class Masker:
    """What one user gets to see: the accessor for list, detail, diff, export and API."""

    def __init__(self, user: Any) -> None:
        self.masking = get_masking()
        self.is_unmasked = not self.masking.paths or may(user, "payload.unmask")

    def may_filter(self, path: Path) -> bool:
        return self.is_unmasked or not self.masking.covers(path)

    def summary(self, letter: DeadLetter) -> str:
        return letter.summary if self.trusts(letter) else HIDDEN

    def title(self, group: FailureGroup) -> str:
        return group.title if self.trusts(group) else f"{group.error_type} ({HIDDEN})"

    def heading(self, group: FailureGroup, example: DeadLetter | None) -> str:
        """What a person reads first: the newest letter's own words, or the title where there are none."""
        if example is None or not example.summary or not self.trusts(example):
            return self.title(group)
        return f"{example.error_type}: {example.summary}"

    def trusts(self, record: DeadLetter | FailureGroup) -> bool:
        """Whether its stored texts were made under today's rules."""
        return self.is_unmasked or record.mask_key == self.masking.key

    def letter(self, letter: DeadLetter) -> "MaskedLetter":
        return MaskedLetter(letter, self)


class MaskedLetter:
    """A letter's body as the masker's user may see it; costs the body's row, so it is for one letter at a time."""

    def __init__(self, letter: DeadLetter, masker: Masker) -> None:
        self.letter = letter
        self.masker = masker
        self.body = letter.body

    @cached_property
    def original(self) -> Payload:
        body = self.body
        if body.payload_raw is not None:
            return clean_payload(bytes(body.payload_raw))
        return Payload(None, None, body.payload_size, body.payload)

    @cached_property
    def payload(self) -> Any:
        """The parsed document, masked as need be; None: there is none, or it is not JSON (see `payload_text`)."""
        document = self.original.value
        return document if self.masker.is_unmasked else self.masker.masking.mask_document(document)

    @cached_property
    def payload_text(self) -> str:
        """The payload as text for the page, a download or a diff; what is not JSON is hidden from most."""
        if self.masker.is_unmasked and self.original.raw is not None:
            return self.original.raw.decode(errors="backslashreplace")
        if self.original.size == 0:
            return ""
        if not self.original.is_readable:
            return HIDDEN
        return json.dumps(self.payload, ensure_ascii=False, indent=2)

    @property
    def payload_size(self) -> int | None:
        """None: not told, as the length would tell masked values apart."""
        return self.body.payload_size if self.masker.is_unmasked else None

    @property
    def error_message(self) -> str:
        if self.masker.is_unmasked or not self.masker.trusts(self.letter):
            return self.text(self.body.error_message)
        masked = self.body.masked_message
        return self.body.error_message if masked is None else masked

    @property
    def stacktrace(self) -> str:
        return self.text(self.body.stacktrace)

    @property
    def headers(self) -> dict[str, str]:
        return {name: self.text(value) for name, value in self.body.headers.items()}

    def text(self, text: str) -> str:
        """Any text that came with this letter, such as an attempt's error."""
        if self.masker.is_unmasked:
            return text
        # Without its payload nobody can say which words of a text are masked.
        return (
            HIDDEN if text and self.letter.erased_at else self.masker.masking.mask_text(text, self.original)
        )


def get_masking() -> Masking:
    return make_masking(tuple(settings.MASKED_PATHS))


@lru_cache(maxsize=8)
def make_masking(spellings: tuple[str, ...]) -> Masking:
    return Masking(list(spellings))


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
        yield value
        yield json.dumps(value)[1:-1]
        yield repr(value)[1:-1]
        yield quote(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def replace_words(text: str, spellings: set[str]) -> str:
    """Take each spelling out, longest first, whatever its case; a short one only where it is a word of its own."""
    if not spellings:
        return text
    escaped = (
        re.escape(spelling) if len(spelling) >= SHORT else rf"(?<!\w){re.escape(spelling)}(?!\w)"
        for spelling in sorted(spellings, key=len, reverse=True)
    )
    # With its quotes: which ones were chosen tells what is between them.
    return re.sub(f"[\"']?(?:{'|'.join(escaped)})[\"']?", MASKED, text, flags=re.IGNORECASE)
