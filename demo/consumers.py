from datetime import timedelta

from demo.clock import find_moved
from projections.api import Projector, StoredEvent

# How long after it happened an event is handled, in a past in which all is well.
SOON = timedelta(seconds=1.3)


class ShopProjector(Projector):
    """A consumer of the shop: while the past is made, each event is handled at its time."""

    def handle(self, event: StoredEvent) -> None:
        moved = find_moved()
        if moved:
            moved.come_to(event.recorded_at + SOON)
        super().handle(event)
