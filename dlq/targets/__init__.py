"""Targets, and which one a consumer's letters go to; configured ones come from REDRIVE_TARGETS."""

import json
from functools import lru_cache

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from dlq.targets.base import Answer, ConfirmingTarget, Delivery, Health, Refusal, Target, TargetError
from dlq.targets.celery import CeleryTarget
from dlq.targets.handler import HandlerTarget, find_handler
from dlq.targets.http import HttpTarget

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
    "find_target",
]

AnyTarget = HandlerTarget | Target
KINDS: dict[str, type[HttpTarget] | type[CeleryTarget]] = {"http": HttpTarget, "celery": CeleryTarget}


def find_target(source: str, consumer: str) -> AnyTarget | None:
    """Where this consumer's letters are replayed to; None: nowhere, nobody has said."""
    name = settings.CONSUMER_TARGETS.get(consumer)
    if not name:
        return find_handler(source, consumer)
    if name not in settings.TARGETS:
        raise ImproperlyConfigured(f"REDRIVE_CONSUMER_TARGETS names {name!r}, which REDRIVE_TARGETS has not.")
    return make_target(name, json.dumps(settings.TARGETS[name], sort_keys=True))


@lru_cache(maxsize=100)
def make_target(name: str, given: str) -> Target:
    """The target as it is configured; one that cannot work is refused with the reason."""
    values = json.loads(given)
    kind = values.pop("kind", "")
    if kind not in KINDS:
        raise ImproperlyConfigured(f"Target {name!r} is of kind {kind!r}; there are {', '.join(KINDS)}.")
    try:
        target: Target = KINDS[kind](name=name, **values)
    except TypeError as error:
        raise ImproperlyConfigured(f"Target {name!r}: {error}.") from None
    # A lane must not be lost while a request is under way.
    if target.timeout_seconds * 2 > settings.RUN_LEASE_SECONDS:
        most = settings.RUN_LEASE_SECONDS / 2
        raise ImproperlyConfigured(f"Target {name!r} may take {most:g} s at most, half of a lane's lease.")
    return target
