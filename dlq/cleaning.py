"""Making anything storable. Nothing here raises, whatever it is given, and nothing is thrown away:
what jsonb cannot hold is kept as the bytes it came in.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

# What an index entry can hold, with room for the other columns of the index.
MOST_NAME_BYTES = 600
# Larger payloads are kept as bytes only: taking one apart for the index would take seconds.
MOST_JSON_BYTES = 256 * 1024
MOST_DEPTH = 100
# Postgres counts a number's digits; a short text can name one with a billion of them.
HUGE_NUMBER = re.compile(r"\d[eE][+-]?\d{4}|\d{1000}")
# A number that a float cannot hold: too many digits, or too far from one. The pattern begins with a digit, as those are
# found faster than what may stand before them.
ROUNDED = re.compile(r"\d(?<![^\s:,\[-]\d)(?:(?=\d*[.eE])[\d.eE+-]{16}|[\d.]*[eE][+-]?\d{3})")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
NO_WORD = re.compile(r"[\W_]+")
# The same for ASCII, for which a table is quicker than a pattern.
SPACES = {code: " " for code in range(128) if not chr(code).isalnum()}
# Postgres takes none of more than 2,046 bytes.
MOST_WORD = 255
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
# What a list shows of an error.
MOST_SUMMARY = 200
# How far a reporter's clock may be ahead before we take our own time instead.
CLOCK_AHEAD = timedelta(minutes=5)
# Before there were computers to fail: some platforms write year 1 for no time.
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


class JsonText(str):
    """JSON as it was written: held as JSON alone, and as these bytes too where reading it would change a number."""

    __slots__ = ()


class JsonbText(JsonText):
    """The same as another Postgres holds it in a jsonb column: then ours can, and need not be asked."""

    __slots__ = ()


@dataclass(frozen=True)
class Payload:
    """A payload as it will be stored: `document` is JSON text for jsonb, `value` the same parsed; None: not JSON."""

    document: str | None
    raw: bytes | None
    size: int
    value: Any

    @property
    def is_readable(self) -> bool:
        return self.document is not None or self.raw is None


def clean_text(value: Any) -> str:
    """The text with what Postgres refuses made visible: NUL as ␀, half a surrogate pair as a replacement character."""
    text = value if isinstance(value, str) else decode(value) if isinstance(value, bytes) else to_text(value)
    if text.isascii() and "\0" not in text:
        return text
    return UNSTORABLE.sub(lambda match: "␀" if match[0] == "\0" else "\ufffd", text)


def to_text(value: Any) -> str:
    """Anything as text, even an object that cannot be written."""
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__} that cannot be written>"


def summarise(message: str) -> str:
    """The first line that says something, for a list."""
    return message.strip().partition("\n")[0][:MOST_SUMMARY]


def split_words(text: str) -> str:
    """The words of a text, small and with a space between them: what is searched for, and in what."""
    spaced = text.translate(SPACES) if text.isascii() else NO_WORD.sub(" ", text)
    words = spaced.lower().split()
    return " ".join(words if len(text) <= MOST_WORD else [word[:MOST_WORD] for word in words])


def clean_name(value: Any) -> str:
    """A short text that can be indexed: a longer one keeps its beginning and gets its hash, so it stays itself."""
    name = clean_text(value)
    encoded = name.encode()
    if len(encoded) <= MOST_NAME_BYTES:
        return name
    return f"{encoded[:400].decode(errors='ignore')}…{sha256(encoded).hexdigest()}"


def clean_names(values: Sequence[Any]) -> Sequence[str]:
    """Each of them; most often one look tells that all are clean, and there are a dozen to a letter."""
    try:
        together = "".join(values)
    except TypeError:
        return [clean_name(value) for value in values]
    is_clean = len(together) <= MOST_NAME_BYTES and together.isascii() and "\0" not in together
    return values if is_clean else [clean_name(value) for value in values]


def clean_time(value: datetime | None) -> datetime:
    """A time in UTC that can have been; a time without zone is taken for UTC, and nonsense for now."""
    now = datetime.now(UTC)
    if value is None:
        return now
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return aware.astimezone(UTC) if is_believable(aware, now) else now


def is_believable(value: datetime, now: datetime | None = None) -> bool:
    """Whether something can have failed then; if not, recording would take the time of recording instead."""
    # Compared and not converted: a time at the end of the calendar has no spelling in another zone.
    return EARLIEST <= value <= (now or datetime.now(UTC)) + CLOCK_AHEAD


def clean_number(value: Any, bits: int) -> int | None:
    """A whole number that fits its column; None for anything else."""
    if value is None:
        return None
    fits = isinstance(value, int) and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)
    return int(value) if fits else None


def clean_headers(headers: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> dict[str, str]:
    if not headers:
        return {}
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return {clean_text(name): clean_text(value) for name, value in pairs}


def clean_payload(payload: Any, *, needs_value: bool = True) -> Payload:
    """Text and bytes are the message as it was sent, and are kept; anything else is a value to be held as JSON."""
    if payload is None:
        return Payload(None, None, 0, None)
    if isinstance(payload, JsonText):
        return clean_document(payload, needs_value=needs_value)
    if isinstance(payload, bytes | bytearray | memoryview | str):
        raw = payload.encode(errors="surrogatepass") if isinstance(payload, str) else bytes(payload)
        document, value = read_json(raw)
        return Payload(document, raw, len(raw), value)
    raw = write_json(payload)
    document, value = read_json(raw)
    # Where jsonb cannot hold it, the bytes do.
    return Payload(document, None if document is not None else raw, len(raw), value)


def clean_document(text: JsonText, *, needs_value: bool) -> Payload:
    raw = text.encode(errors="surrogatepass")
    is_known = isinstance(text, JsonbText) and len(raw) <= MOST_JSON_BYTES and is_flat(text)
    document, value = (str(text), None) if is_known and not needs_value else read_json(raw)
    is_exact = document is not None and not is_rounded(text)
    return Payload(document, None if is_exact else raw, len(raw), value)


def write_json(value: Any) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, default=to_text)
    except (TypeError, ValueError, RecursionError):
        # Keys that are no text, circles, a thousand levels: Python's own spelling is better than nothing.
        try:
            text = repr(value)
        except RecursionError:
            text = f"<{type(value).__name__} nested too deeply to be written down>"
        except Exception:
            # Thousands of digits, or an object inside that fails at it.
            text = f"<{type(value).__name__} that cannot be written>"
    return text.encode(errors="surrogatepass")


def read_json(raw: bytes) -> tuple[str | None, Any]:
    """The document as text that jsonb takes, and parsed; two times None if it is not JSON or cannot be held."""
    if len(raw) > MOST_JSON_BYTES:
        return None, None
    try:
        text = raw.decode()
        value = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None, None
    return (text, value) if is_storable(text, value) else (None, None)


def is_storable(text: str, value: Any) -> bool:
    """Whether jsonb takes a document, given as text and parsed."""
    if "\\u" in text:
        # Without escaped backslashes, so that what is left of a NUL is its number and nothing else is.
        written = json.dumps(value, ensure_ascii=False).replace("\\\\", "")
        if UNSTORABLE.search(written) or "\\u0000" in written:
            return False
    return not has_huge_number(text) and is_shallow(text, value)


def is_rounded(text: JsonText) -> bool:
    """Whether a number would not survive; another Postgres writes none with an exponent, so one needs a point."""
    return ("." in text or not isinstance(text, JsonbText)) and ROUNDED.search(text) is not None


def refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def has_huge_number(text: str) -> bool:
    """Every fifth UUID looks as if it named one, so that strings do not count."""
    return HUGE_NUMBER.search(text) is not None and HUGE_NUMBER.search(STRING.sub("", text)) is not None


def is_flat(text: str) -> bool:
    """Whether it cannot be deep, without a look inside."""
    return text.count("[") + text.count("{") <= MOST_DEPTH


def is_shallow(text: str, value: Any) -> bool:
    if is_flat(text):
        return True
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
    return not level


def decode(value: bytes) -> str:
    return value.decode(errors="backslashreplace")
