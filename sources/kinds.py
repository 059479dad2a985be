"""The kinds of sources that redrive.toml may name."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from dashboard.config import SYNC_SECONDS, read_retention
from sources import registry
from sources.base import Source
from sources.checkpoints.eventcore import EventcoreCheckpoints
from sources.checkpoints.eventsource_py import EventsourceCheckpoints
from sources.connect import is_address
from sources.sql.mapping import KEYS, Mapping, make_mapping
from sources.sql.presets import EVENTSOURCE_PY, PLATFORM_SERVICES
from sources.sql.source import MakeCheckpoints, SqlSource

TIMEOUT_SECONDS = 5.0
# Longer than most owners take to try what they were asked for.
RETRY_MINUTES = 15.0
DAY_MINUTES = 24 * 60
# What all kinds have.
COMMON = frozenset({"dsn", "every_seconds", "timeout_seconds", "retry_minutes", "retention_hours"})

LETTERS: dict[str, Mapping] = {"eventsource-py": EVENTSOURCE_PY, "platform-services": PLATFORM_SERVICES}
NO_LETTERS = {"eventcore": "EventCore has no table of dead letters."}
CHECKPOINTS: dict[str, MakeCheckpoints] = {
    "eventsource-py": EventsourceCheckpoints,
    "eventcore": EventcoreCheckpoints,
}
NO_CHECKPOINTS = {
    "platform-services": "Its projections keep no checkpoint.",
    "sql": "The mapping describes letters and no checkpoints.",
}
# How a worker is seen where its tables do not show it; EventCore's holds a lock.
SEEN_BY = {"eventsource-py": frozenset({"worker"})}
UNKNOWN = "This kind of source is not known to have any."


def make_sql_source(kind: str, name: str, mapping: Mapping | None, values: dict[str, Any]) -> Source:
    where = f"[sources.{name}]"
    dsn = values.get("dsn")
    if not isinstance(dsn, str) or not dsn:
        raise ImproperlyConfigured(f'{where} needs a dsn, such as "env:{name.upper()}_DSN".')
    if not is_address(dsn):
        # The sentence does not repeat it.
        raise ImproperlyConfigured(
            f"{where} dsn is not an address of a Postgres; percent-encode special characters of the password."
        )
    # How often it is looked at is for beat, which has it from the same table; here it is refused if it makes no sense.
    read_number(where, "every_seconds", values, SYNC_SECONDS, most=3600)
    return SqlSource(
        name,
        kind,
        dsn,
        read_number(where, "timeout_seconds", values, TIMEOUT_SECONDS, most=30),
        retry_minutes=read_number(where, "retry_minutes", values, RETRY_MINUTES, most=7 * DAY_MINUTES),
        retention_hours=read_retention(where, values),
        mapping=mapping,
        make_checkpoints=CHECKPOINTS.get(kind),
        worker=read_text(where, "worker", values),
        no_letters=NO_LETTERS.get(kind, UNKNOWN),
        no_checkpoints=NO_CHECKPOINTS.get(kind, UNKNOWN),
    )


def make_preset(kind: str) -> Any:
    return lambda name, **values: make_sql_source(kind, name, LETTERS.get(kind), values)


def make_home_made(name: str, **values: Any) -> Source:
    mapping = {key: value for key, value in values.items() if key not in COMMON}
    return make_sql_source("sql", name, make_mapping(f"[sources.{name}]", mapping), values)


def read_number(where: str, key: str, values: dict[str, Any], default: float, *, most: float) -> float:
    """The key's last word is its unit."""
    value = values.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.1 <= value <= most:
        unit = key.rpartition("_")[2]
        raise ImproperlyConfigured(f"{where} {key} is {value!r}; write {unit}, from 0.1 to {most:g}.")
    return float(value)


def read_text(where: str, key: str, values: dict[str, Any]) -> str:
    value = values.get(key, "")
    if not isinstance(value, str):
        raise ImproperlyConfigured(f"{where} {key} is {value!r}; write text.")
    return value


for preset in ("eventsource-py", "platform-services", "eventcore"):
    registry.register(preset, COMMON | SEEN_BY.get(preset, frozenset()), make_preset(preset))
registry.register("sql", COMMON | KEYS, make_home_made)
