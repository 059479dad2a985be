"""What a field may hold: each kind reads a value, or says what would be right, and describes itself as a schema."""

from base64 import b64decode
from binascii import Error as Base64Error
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from dlq.api import is_believable
from sources.push.errors import BadItemError
from sources.push.items import Item

# As much of a wrong value as is repeated to its sender.
SHOWN = 60


class Kind(Protocol):
    """`read` raises ValueError for a value that is not `allowed`."""

    @property
    def allowed(self) -> str: ...

    @property
    def schema(self) -> dict[str, Any]: ...

    def read(self, value: Any) -> Any: ...


@dataclass(frozen=True)
class Text:
    allowed: str = "text"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string"}

    def read(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError
        return value


@dataclass(frozen=True)
class Number:
    least: int
    most: int

    @property
    def allowed(self) -> str:
        return f"a whole number from {self.least:,} to {self.most:,}"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    def read(self, value: Any) -> int:
        # True is a number to Python and to nobody else.
        if not isinstance(value, int) or isinstance(value, bool) or not self.least <= value <= self.most:
            raise ValueError
        return value


@dataclass(frozen=True)
class Time:
    allowed: str = (
        "an ISO 8601 time with its zone, such as 2025-01-31T12:00:00Z, not before 1970 and not ahead of now"
    )

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "format": "date-time"}

    def read(self, value: Any) -> datetime:
        time = datetime.fromisoformat(Text().read(value))
        # A time that recording would not believe would be replaced by its own, and differ when it is sent again.
        if time.tzinfo is None or not is_believable(time):
            raise ValueError
        return time.astimezone(UTC)


@dataclass(frozen=True)
class Choice:
    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        return ", ".join(self.words[:-1]) + f" or {self.words[-1]}"

    @property
    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.words)}

    def read(self, value: Any) -> str:
        if value not in self.words:
            raise ValueError
        return str(value)


@dataclass(frozen=True)
class Texts:
    allowed: str = "an object of text"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": {"type": "string"}}

    def read(self, value: Any) -> dict[str, str]:
        if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
            raise ValueError
        return value


@dataclass(frozen=True)
class Base64:
    allowed: str = "text in base64"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "contentEncoding": "base64"}

    def read(self, value: Any) -> bytes:
        try:
            return b64decode(Text().read(value).encode("ascii"), validate=True)
        except (Base64Error, UnicodeEncodeError):
            raise ValueError from None


@dataclass(frozen=True)
class Anything:
    allowed: str = "any JSON"

    @property
    def schema(self) -> dict[str, Any]:
        return {}

    def read(self, value: Any) -> Any:
        return value


def to_bytes(value: Any) -> bytes:
    """An array of numbers as bytes; a number alone would be taken for a length, and as much memory for it."""
    if not isinstance(value, list):
        raise TypeError
    return bytes(value)


def read_field(item: Item, name: str, kind: Kind) -> Any:
    """The value, or None if it is null or not there."""
    value = item.values.get(name)
    if value is None:
        return None
    try:
        return kind.read(value)
    except (ValueError, OverflowError):
        raise BadItemError(f"{name} is {shorten(item.texts[name])}; write {kind.allowed}.") from None


def need_field(item: Item, name: str, kind: Kind) -> Any:
    """The value, which must be there and not be empty."""
    value = read_field(item, name, kind)
    if value is None or (isinstance(value, str) and not value.strip()):
        raise BadItemError(f"{name} is missing; write {kind.allowed}.")
    return value


def shorten(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
