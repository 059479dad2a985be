"""From bytes to items: objects whose values are there both read and as they were written."""

import json
import re
from dataclasses import dataclass
from typing import Any

from dlq.api import JsonText
from sources.push.errors import BadItemError, RefusedError

# What one request may hold: about as much as Postgres takes in a second.
MOST_ITEMS = 1000
SPACE = re.compile(r"[ \t\n\r]*")
# No number that means something has so many digits, and Python refuses to read them.
MOST_DIGITS = 4000
TOO_DEEP = "It is nested too deeply to be read."
# A text, or a bracket outside of one. It takes what it has taken and never looks back, also in a text without an end:
# otherwise time and memory would grow faster than the body.
TEXT_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.?)*+"?|[\[\]{}]', re.DOTALL)
DEPTH = {"{": 1, "[": 1, "}": -1, "]": -1}


def read_int(digits: str) -> int | None:
    return int(digits) if len(digits) <= MOST_DIGITS else None


# Lenient about what a payload may hold, as its text is kept: NaN, and numbers that nobody can count to.
DECODER = json.JSONDecoder(parse_int=read_int, parse_constant=lambda _: None)


@dataclass(frozen=True)
class Item:
    """One object of a request."""

    values: dict[str, Any]
    texts: dict[str, str]

    def get_json(self, name: str) -> JsonText | None:
        """The value as it was written, or None if it is null or not there."""
        return JsonText(self.texts[name]) if self.values.get(name) is not None else None


@dataclass(frozen=True)
class Place:
    """An item, or why it is none, and where it stood: its number or its line, from 0."""

    index: int
    item: Item | BadItemError


def read_places(body: bytes, *, is_lines: bool) -> list[Place]:
    if not body.strip():
        raise RefusedError(400, "The body is empty.")
    places = read_lines(body) if is_lines else read_document(body)
    if len(places) > MOST_ITEMS:
        raise RefusedError(413, f"There are more than {MOST_ITEMS:,} failures. Send fewer in one request.")
    return places


def read_lines(body: bytes) -> list[Place]:
    """One object a line; empty lines count as lines, and as nothing else."""
    places = []
    for index, line in enumerate(body.removeprefix(b"\xef\xbb\xbf").split(b"\n")):
        if line.strip():
            places.append(Place(index, read_line(line)))
        if len(places) > MOST_ITEMS:
            break
    return places


def read_line(line: bytes) -> Item | BadItemError:
    try:
        text = line.decode()
        item, end = read_item(text, skip(text, 0))
        expect_end(text, end)
    except RecursionError:
        return BadItemError(TOO_DEEP)
    except ValueError as error:
        return BadItemError(f"It is not JSON: {describe(error)}")
    return item


def read_document(body: bytes) -> list[Place]:
    """One object, or an array of them; if it is not JSON, nobody knows where an item begins."""
    places: list[Place] = []
    try:
        text = body.decode("utf-8-sig")
        at = skip(text, 0)
        if text[at : at + 1] != "[":
            item, end = read_item(text, at)
            places.append(Place(0, item))
        else:
            end = read_array(text, at, places)
        expect_end(text, end)
    except RecursionError:
        raise RefusedError(400, TOO_DEEP) from None
    except ValueError as error:
        raise RefusedError(400, f"The body is not JSON: {describe(error)}") from None
    return places


def read_array(text: str, start: int, places: list[Place]) -> int:
    """Adds what the array holds, up to one more than may be; returns where the array ends."""
    at = skip(text, start + 1)
    if text[at : at + 1] == "]":
        return at + 1
    while True:
        try:
            item, end = read_item(text, at)
        except RecursionError:
            item, end = BadItemError(TOO_DEEP), find_end(text, at)
        places.append(Place(len(places), item))
        at = skip(text, end)
        if len(places) > MOST_ITEMS:
            return len(text)
        if text[at : at + 1] == "]":
            return at + 1
        at = expect(text, at, ",")


def read_item(text: str, start: int) -> tuple[Item | BadItemError, int]:
    """The item that begins here, and where it ends."""
    if text[start : start + 1] != "{":
        _, end = DECODER.raw_decode(text, start)
        return BadItemError("It is not an object."), end
    values: dict[str, Any] = {}
    texts: dict[str, str] = {}
    at = skip(text, start + 1)
    if text[at : at + 1] == "}":
        return Item(values, texts), at + 1
    while True:
        if text[at : at + 1] != '"':
            raise json.JSONDecodeError("a name in quotes is missing", text, at)
        name, at = DECODER.raw_decode(text, at)
        at = expect(text, skip(text, at), ":")
        values[name], end = DECODER.raw_decode(text, at)
        texts[name] = text[at:end]
        at = skip(text, end)
        if text[at : at + 1] == "}":
            return Item(values, texts), at + 1
        at = expect(text, at, ",")


def find_end(text: str, start: int) -> int:
    """Where what begins here with a bracket ends: by its brackets alone, for it is too deep to be read."""
    depth = 0
    for found in TEXT_OR_BRACKET.finditer(text, start):
        depth += DEPTH.get(found[0], 0)
        if depth == 0:
            return found.end()
    raise json.JSONDecodeError("it is nested too deeply, and does not end", text, start)


def skip(text: str, at: int) -> int:
    """Past the white space."""
    found = SPACE.match(text, at)
    return found.end() if found else at


def expect(text: str, at: int, mark: str) -> int:
    """Past the mark that must stand here, and past the white space after it."""
    if text[at : at + 1] != mark:
        raise json.JSONDecodeError(f"{mark!r} is missing", text, at)
    return skip(text, at + 1)


def expect_end(text: str, at: int) -> None:
    at = skip(text, at)
    if at < len(text):
        raise json.JSONDecodeError(
            "it goes on after its end (one object a line is application/x-ndjson)", text, at
        )


def describe(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, at character {error.pos}."
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8."
    return f"{error}."
