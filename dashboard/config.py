"""redrive.toml: where letters are read, where replays go, and what is said of single consumers; read strictly."""

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from dashboard.env import Env

Table = dict[str, Any]

NAME = re.compile(r"^[a-z0-9][a-z0-9._-]{0,62}$")
# These mean something already: our own consumers and a page beside the sources; the two targets that need no table.
TAKEN_NAMES = {"sources": {"native", "tokens"}, "targets": {"handler", "source"}}
TABLES = ("sources", "targets", "consumers", "topics")
# To one value, where masking's path may lead to many.
PATH = re.compile(r"^\$(?:\.[\w-]+)+$")
CONSUMER_KEYS = ("target", "criticality", "sequence", "event_types", "worker", "strategy")
SYNC_SECONDS = 2.0
# A hundred years.
MOST_HOURS = 876_000
# A ledger must not lose an event silently: closing its letters takes a reason.
CRITICALITIES = ("normal", "ledger")
# What a consumer that others run does with an event that fails; its tables do not say.
STRATEGIES = ("fatal", "skip", "retry", "dead-letter")
# Never written down in a file that is read, copied and committed.
SECRET_KEYS = {"secret"}
PASSWORD = re.compile(r"(://[^/@\s]*:[^/@\s]+@)|(\bpassword\s*=)")


@dataclass(frozen=True)
class Config:
    """The tables by name; their kinds check their own keys, since they know them."""

    sources: dict[str, Table] = field(default_factory=dict)
    targets: dict[str, Table] = field(default_factory=dict)
    # By "source/consumer".
    consumers: dict[str, Table] = field(default_factory=dict)
    # How many hours the broker keeps what is on a topic.
    retention_hours: dict[str, float] = field(default_factory=dict)


def read_config(path: Path, env: Env) -> Config:
    """What the file says; a wrong word in it stops the start with a sentence that names table and key."""
    try:
        document = tomllib.loads(path.read_text())
    except OSError as error:
        raise ImproperlyConfigured(f"REDRIVE_CONFIG names {path}, which cannot be read: {error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{path.name} is not TOML: {error}.") from None
    refuse_unknown(document, TABLES, f"{path.name}: the file")
    config = Config(
        sources=read_tables(document, "sources", path.name, env),
        targets=read_tables(document, "targets", path.name, env),
        consumers=get_tables(document, "consumers", path.name),
        retention_hours=read_topics(document, path.name),
    )
    for name, values in config.consumers.items():
        check_consumer(f"{path.name}: [consumers.{name!r}]", name, values, config)
    return config


def read_tables(document: Mapping[str, Any], section: str, file: str, env: Env) -> dict[str, Table]:
    """Tables with a kind each, in which values that begin with env: are taken from the environment."""
    tables = {}
    for name, values in get_tables(document, section, file).items():
        where = f"{file}: [{section}.{name}]"
        if not NAME.match(name) or name in TAKEN_NAMES[section]:
            taken = ", ".join(sorted(TAKEN_NAMES[section]))
            raise ImproperlyConfigured(
                f"{where}: write the name with small letters, digits, - _ and . ({taken} mean something else)."
            )
        if not isinstance(values.get("kind"), str):
            raise ImproperlyConfigured(f"{where} needs a kind.")
        tables[name] = {key: read_value(value, f"{where} {key}", key, env) for key, value in values.items()}
    return tables


def read_topics(document: Mapping[str, Any], file: str) -> dict[str, float]:
    found = {}
    for name, values in get_tables(document, "topics", file).items():
        where = f"{file}: [topics.{name!r}]"
        refuse_unknown(values, ("retention_hours",), where)
        hours = read_retention(where, values)
        if hours is not None:
            found[name] = hours
    return found


def read_retention(where: str, values: Table) -> float | None:
    """How long a broker keeps events; None: nobody said."""
    hours = values.get("retention_hours")
    if hours is None:
        return None
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0 < hours <= MOST_HOURS:
        raise ImproperlyConfigured(
            f"{where} retention_hours is {hours!r}; write hours, up to {MOST_HOURS:,} (leave it out if it is for ever)."
        )
    return float(hours)


def get_tables(document: Mapping[str, Any], section: str, file: str) -> dict[str, Table]:
    tables = document.get(section, {})
    if not isinstance(tables, dict) or not all(isinstance(values, dict) for values in tables.values()):
        raise ImproperlyConfigured(f"{file}: write {section} as tables, such as [{section}.NAME].")
    return tables


def read_value(value: Any, where: str, key: str, env: Env) -> Any:
    if isinstance(value, dict):
        return {name: read_value(one, f"{where}.{name}", name, env) for name, one in value.items()}
    if not isinstance(value, str):
        return value
    if not value.startswith("env:"):
        if key in SECRET_KEYS or PASSWORD.search(value):
            # The sentence does not repeat it.
            raise ImproperlyConfigured(f'{where} holds a secret; write "env:NAME" and set that variable.')
        return value
    found = env.text(value.removeprefix("env:"))
    if not found:
        raise ImproperlyConfigured(f"{where} takes its value from {value}, which is not set.")
    return found


def check_consumer(where: str, name: str, values: Table, config: Config) -> None:
    source, _, consumer = name.partition("/")
    if not source or not consumer:
        raise ImproperlyConfigured(f'{where}: write the name as "source/consumer".')
    refuse_unknown(values, CONSUMER_KEYS, where)
    for key, value in values.items():
        if key == "event_types":
            if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
                raise ImproperlyConfigured(f'{where} {key} is {value!r}; write a list such as ["OrderPaid"].')
        elif not isinstance(value, str):
            raise ImproperlyConfigured(f"{where} {key} is {value!r}; write text.")
    target = values.get("target", "")
    allowed = {*config.targets, *TAKEN_NAMES["targets"]}
    if target and target not in allowed:
        raise ImproperlyConfigured(f"{where} target is {target!r}; there are {', '.join(sorted(allowed))}.")
    for key, words in (("criticality", CRITICALITIES), ("strategy", STRATEGIES)):
        if key in values and values[key] not in words:
            raise ImproperlyConfigured(f"{where} {key} is {values[key]!r}; write one of {', '.join(words)}.")
    if "sequence" in values and not PATH.match(values["sequence"]):
        raise ImproperlyConfigured(
            f"{where} sequence is {values['sequence']!r}; write a path like $.aggregate_id."
        )


def every_seconds(values: Table) -> float:
    """How often a source is looked at; whether the number makes sense is for its kind to say."""
    seconds = values.get("every_seconds", SYNC_SECONDS)
    return float(seconds) if isinstance(seconds, int | float) else SYNC_SECONDS


def refuse_unknown(values: Mapping[str, Any], allowed: Collection[str], where: str) -> None:
    """Stop if a key is not one of those allowed; a misspelt one would otherwise be ignored in silence."""
    for key in values:
        if key not in allowed:
            raise ImproperlyConfigured(
                f"{where} has {key!r}, which means nothing; it may have {', '.join(sorted(allowed))}."
            )
