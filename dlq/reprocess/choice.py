from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from projections.api import Pick, pick_events


@dataclass(frozen=True)
class EventChoice:
    """Which events of the store somebody means; no types are all that the consumer handles, no stream is every one."""

    consumer: str
    types: tuple[str, ...] = ()
    stream: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def pick(self, watermark: int | None = None) -> Pick:
        """What it means now, or what it meant when the projection was at the watermark; raises PickError."""
        chosen = asdict(self)
        return pick_events(chosen.pop("consumer"), **chosen, watermark=watermark)

    @property
    def description(self) -> dict[str, Any]:
        """For the audit entry and the run's page: what was chosen, and nothing that was left open."""
        times = {name: at.isoformat() for name, at in (("since", self.since), ("until", self.until)) if at}
        given = {"types": list(self.types), "stream": self.stream}
        return {"consumer": self.consumer} | {name: value for name, value in given.items() if value} | times
