"""How long brokers keep events: after that, what a letter holds is the only copy."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from sources.registry import find_source, list_sources


def describe_only_copy(source: str, topic: str, first_failed_at: datetime) -> str:
    """A sentence for the page of a letter whose event the broker has no longer; empty: it has, or nobody can tell."""
    hours = find_retention_hours(source, topic)
    # The event is older than its first failure, so it is gone there by then.
    if hours is None or timezone.now() - first_failed_at < timedelta(hours=hours):
        return ""
    return f"The broker keeps events for {hours:g} h, and this one is older."


def list_retention() -> tuple[dict[str, float], dict[str, float]]:
    """The hours that are said of topics, and of sources."""
    sources = {source.name: source.retention_hours for source in list_sources()}
    return settings.TOPIC_RETENTION, {name: hours for name, hours in sources.items() if hours is not None}


def find_retention_hours(source: str, topic: str) -> float | None:
    """What is said of the topic comes before what is said of the source; None: nobody said."""
    if topic in settings.TOPIC_RETENTION:
        return float(settings.TOPIC_RETENTION[topic])
    found = find_source(source)
    return found.retention_hours if found else None
