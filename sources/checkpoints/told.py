"""What redrive.toml tells about consumers that others run and their tables do not: event types, and who works."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings


@dataclass(frozen=True)
class Told:
    """What is told about the consumers of one source."""

    source: str
    # The application_name of its workers' sessions; empty: nobody said.
    worker: str = ""

    def get_worker(self, consumer: str) -> str:
        return str(self._of(consumer).get("worker", self.worker))

    def find_types(self, consumer: str) -> list[str] | None:
        """The event types that it handles; None: nobody said."""
        return self._of(consumer).get("event_types")

    def _of(self, consumer: str) -> dict[str, Any]:
        return settings.CONSUMERS.get(f"{self.source}/{consumer}", {})
