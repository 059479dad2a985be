"""Targets, and which one a consumer's letters go to; redrive.toml says so."""

import json
from functools import lru_cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from dlq.targets.base import (
    Answer,
    ConfirmingTarget,
    Delivery,
    Health,
    Refusal,
    Target,
    TargetError,
    TooLateError,
    get_confirmation_time,
)
from dlq.targets.celery import CeleryTarget
from dlq.targets.checking import check_table
from dlq.targets.handler import HandlerTarget, find_handler
from dlq.targets.http import HttpTarget
from dlq.targets.source import SourceTarget

__all__ = [
    "Answer",
    "AnyTarget",
    "ConfirmingTarget",
    "Delivery",
    "HandlerTarget",
    "Health",
    "Refusal",
    "Target",
    "TargetError",
    "TooLateError",
    "check_targets",
    "find_target",
    "get_confirmation_time",
]

AnyTarget = HandlerTarget | Target
KINDS: dict[str, type[HttpTarget] | type[CeleryTarget]] = {"http": HttpTarget, "celery": CeleryTarget}


def find_target(source: str, consumer: str) -> AnyTarget | None:
    """Where this consumer's letters are replayed to; None: nowhere, nobody has said."""
    name = settings.CONSUMERS.get(f"{source}/{consumer}", {}).get("target", "handler")
    if name == "handler":
        return find_handler(source, consumer)
    if name == "source":
        return SourceTarget(source)
    return make_target(name, json.dumps(settings.TARGETS[name], sort_keys=True))


@lru_cache(maxsize=100)
def make_target(name: str, given: str) -> Target:
    """The target as it is configured; one that cannot work is refused with the reason."""
    values = json.loads(given)
    where = f"[targets.{name}]"
    kind = values.pop("kind", "")
    if kind not in KINDS:
        raise ImproperlyConfigured(f"{where} is of kind {kind!r}; there are {', '.join(sorted(KINDS))}.")
    check_table(where, KINDS[kind], values)
    try:
        target: Target = KINDS[kind](name=name, **values)
    except ValueError as error:
        raise ImproperlyConfigured(f"{where}: {error}") from None
    # A lane must not be lost while a request is under way.
    if target.timeout_seconds * 2 > settings.RUN_LEASE_SECONDS:
        most = settings.RUN_LEASE_SECONDS / 2
        raise ImproperlyConfigured(f"{where} may take {most:g} s at most, half of a lane's lease.")
    return target


def check_targets() -> None:
    """A target that makes no sense stops the start, not the first replay."""
    for name, values in settings.TARGETS.items():
        make_target(name, json.dumps(values, sort_keys=True))
