"""How a table of dead letters is read: which column means what, and in which words it speaks."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from psycopg.sql import Identifier

from dashboard.config import PATH
from sources.base import Words


@dataclass(frozen=True, kw_only=True)
class Mapping:
    """Each of these is a column, or a path into the payload such as $.order.id; empty: there is no such thing."""

    table: str
    # What tells rows apart, and grows: an own column, with an index.
    key: str
    # False: keys are in no order, such as random UUIDs.
    key_grows: bool = True
    consumer: str = ""
    # The consumer's name where the table is of one alone.
    consumer_name: str = ""
    event_id: str = ""
    payload: str
    event_type: str = ""
    error_type: str = ""
    error_message: str = ""
    stacktrace: str = ""
    attempts: str = ""
    first_failed_at: str = ""
    failed_at: str
    # Without it every row is open until it is gone, and nothing can be written.
    status: str = ""
    closed_by: str = ""
    closed_at: str = ""
    sequence: str = ""
    sequence_no: str = ""
    trace: str = ""
    tenant: str = ""
    version: str = ""
    # Words of the status column. The first of those that are open is what a restored row gets.
    open: tuple[str, ...] = ()
    resolved: str = ""
    discarded: str = ""
    retry: str = ""

    @property
    def identifier(self) -> Identifier:
        """The table's name, with or without a schema, as Postgres reads it."""
        return Identifier(*self.table.split("."))

    @property
    def quoted(self) -> Identifier:
        """The same as it is written in a statement."""
        return quote(*self.table.split("."))

    @property
    def words(self) -> Words:
        if not self.status:
            return Words(("",))
        return Words(self.open, self.resolved, self.discarded or self.resolved, self.retry)


def double(text: str) -> str:
    """For a statement with parameters, where the driver takes a percent sign for one."""
    return text.replace("%", "%%")


def quote(*names: str) -> Identifier:
    return Identifier(*map(double, names))


# What must be columns: they are compared or written by the source itself.
COLUMNS = ("key", "payload", "status", "closed_by", "closed_at", "failed_at", "first_failed_at", "attempts")
# What may be a column or a path.
VALUES = (
    *("consumer", "event_id", "event_type", "error_type", "error_message", "stacktrace"),
    *("sequence", "sequence_no", "trace", "tenant", "version"),
)
WORDS = ("open", "resolved", "discarded", "retry")
KEYS = frozenset({"table", "key_grows", "consumer_name", *COLUMNS, *VALUES, *WORDS})


def make_mapping(where: str, values: dict[str, Any]) -> Mapping:
    """The mapping that a table of redrive.toml describes; what cannot work is refused with the reason."""
    values = dict(values)
    for name, value in values.items():
        if not is_right(name, value):
            how = {"open": "a list of words", "key_grows": "true or false"}.get(name, "text")
            raise ImproperlyConfigured(f"{where} {name} is {value!r}; write {how}.")
        if isinstance(value, str) and value.startswith("$"):
            if name not in VALUES:
                raise ImproperlyConfigured(f"{where} {name} is {value!r}; it must be a column.")
            if not PATH.match(value):
                raise ImproperlyConfigured(f"{where} {name} is {value!r}; write a path like $.order.id.")
    missing = [name for name in ("table", "key", "payload", "failed_at") if not values.get(name)]
    if not values.get("consumer") and not values.get("consumer_name"):
        missing.append("consumer (or consumer_name)")
    if missing:
        raise ImproperlyConfigured(f"{where} needs {', '.join(missing)}.")
    if bool(values.get("status")) != bool(values.get("open")):
        raise ImproperlyConfigured(f"{where}: status and open go together: a column and its open words.")
    if values.get("retry") and values["retry"] not in values.get("open", []):
        raise ImproperlyConfigured(
            f"{where} retry is {values['retry']!r}, which must be one of the open words."
        )
    for name in ("resolved", "discarded"):
        if values.get(name) and values[name] in values.get("open", []):
            raise ImproperlyConfigured(f"{where} {name} is {values[name]!r}, which is among the open words.")
    values["open"] = tuple(values.get("open", ()))
    return Mapping(**values)


def is_right(name: str, value: Any) -> bool:
    if name == "open":
        return isinstance(value, list) and all(isinstance(word, str) and word for word in value)
    return isinstance(value, bool if name == "key_grows" else str)
