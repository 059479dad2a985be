"""Links out of the console (traces, logs, Sentry, runbooks): URL templates from the settings, filled and checked."""

from dataclasses import dataclass
from urllib.parse import quote

from django.conf import settings

from dlq.models import DeadLetter


@dataclass(frozen=True)
class Link:
    label: str
    url: str


def list_links(letter: DeadLetter) -> list[Link]:
    """The configured links for which the letter has every value; each value is quoted, so it stays one part."""
    values = {
        name: quote(str(getattr(letter, name) or ""), safe="")
        for name in (
            "trace_id",
            "event_id",
            "consumer",
            "event_type",
            "error_type",
            "source",
            "tenant",
            "app_version",
        )
    }
    return [
        Link(label, template.format(**values))
        for label, template in settings.LINKS.items()
        if all(values[name] for name in values if f"{{{name}}}" in template)
    ]
