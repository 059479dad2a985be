"""Targets, and which one a consumer's letters go to; configured ones come from REDRIVE_TARGETS."""

from functools import lru_cache

from django.conf import settings

from dlq.targets.base import Answer, Delivery, Health, Target, TargetError
from dlq.targets.handler import HandlerTarget, find_handler

__all__ = ["Answer", "Delivery", "HandlerTarget", "Health", "Target", "TargetError", "find_target"]

AnyTarget = HandlerTarget | Target


def find_target(source: str, consumer: str) -> AnyTarget | None:
    """Where this consumer's letters are replayed to; None: nowhere, nobody has said."""
    name = settings.CONSUMER_TARGETS.get(consumer)
    return get_target(name) if name else find_handler(source, consumer)


@lru_cache(maxsize=100)
def get_target(name: str) -> Target:
    raise KeyError(name)
