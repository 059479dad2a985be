"""The target of our own consumers: the projection's handler, in this process and this database."""

from dataclasses import dataclass

from dlq.targets.base import Health
from projections.api import NATIVE, Effects, Projector, find_projector, find_standing

# What is handled in one transaction: the bookkeeping costs little, and a pause is felt at once.
BATCH_SIZE = 1000


@dataclass(frozen=True)
class HandlerTarget:
    """Plays through replay/handler.py, not one by one: read model and letters change in one transaction."""

    projector: Projector
    kind: str = "handler"
    dedup_seconds: int = 0

    @property
    def name(self) -> str:
        return f"handler of {self.projector.name}"

    @property
    def batch_size(self) -> int:
        return BATCH_SIZE if self.projector.effects == Effects.DATABASE else 1

    @property
    def supports_dry_run(self) -> bool:
        return self.projector.effects == Effects.DATABASE

    def get_health(self) -> Health:
        standing = find_standing(self.projector.name)
        if standing is None:
            return Health(False, f"{self.projector.name} has no checkpoint yet.")
        if standing.is_rebuilding:
            sentence = "is being rebuilt, which handles its events anew; wait until it is done."
            return Health(False, f"{self.projector.name} {sentence}", refuses=True)
        return Health(True, f"The handler of {self.projector.name} runs in the console's own workers.")


def find_handler(source: str, consumer: str) -> HandlerTarget | None:
    """None: it is not one of our own consumers, or no installed app registers it."""
    projector = find_projector(consumer) if source == NATIVE else None
    return HandlerTarget(projector) if projector else None
