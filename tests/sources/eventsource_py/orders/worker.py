"""The shop's worker: its projections under a SubscriptionManager, fed from the outbox, on connections of its own."""

import asyncio

from eventsource import (
    InMemoryEventBus,
    PostgreSQLEventStore,
    PostgreSQLOutboxRepository,
    SQLCheckpointRepository,
)
from eventsource.application.subscriptions import SubscriptionManager
from eventsource.domain.event_registry import get_event_class
from shop import PROJECTIONS, connect, make_projection

POLL_SECONDS = 0.02


class Worker:
    """Running from `start` to `stop`; then nothing of it is left, no connection either."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def start(self) -> None:
        self.engine = connect(self.url, "orders-worker")
        self.outbox, self.bus = PostgreSQLOutboxRepository(self.engine), InMemoryEventBus()
        # What is in the store by now is caught up on; the bus carries what comes later.
        for entry in await self.outbox.get_pending_events(10_000):
            await self.outbox.mark_published(entry.id)
        store, checkpoints = PostgreSQLEventStore(self.engine), SQLCheckpointRepository(self.engine)
        self.manager = SubscriptionManager(store, self.bus, checkpoints)
        for kind in PROJECTIONS:
            await self.manager.subscribe(make_projection(kind, self.engine, keeps_checkpoint=True))
        for error in (await self.manager.start()).values():
            if error:
                raise error
        self.feeding = asyncio.create_task(self.feed())

    async def feed(self) -> None:
        while True:
            for entry in await self.outbox.get_pending_events():
                event = get_event_class(entry.event_type).model_validate(entry.event_data["payload"])
                await self.bus.publish([event])
                await self.outbox.mark_published(entry.id)
            await asyncio.sleep(POLL_SECONDS)

    async def stop(self) -> None:
        self.feeding.cancel()
        await asyncio.wait([self.feeding])
        await self.manager.stop()
        await self.engine.dispose()
