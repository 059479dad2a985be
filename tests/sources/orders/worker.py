"""The shop's worker: its projections under a SubscriptionManager, fed from the outbox; stops at SIGTERM."""

import asyncio
import signal
import sys

from eventsource import (
    InMemoryEventBus,
    PostgreSQLEventStore,
    PostgreSQLOutboxRepository,
    SQLCheckpointRepository,
)
from eventsource.application.subscriptions import SubscriptionManager
from eventsource.domain.event_registry import get_event_class
from shop import PROJECTIONS, connect, make_projection

POLL_SECONDS = 0.05


async def main(url: str) -> None:
    engine = connect(url, "orders-worker")
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    outbox, bus = PostgreSQLOutboxRepository(engine), InMemoryEventBus()
    manager = SubscriptionManager(PostgreSQLEventStore(engine), bus, SQLCheckpointRepository(engine))
    # What is in the store by now is caught up on; the bus carries what comes later.
    for entry in await outbox.get_pending_events(10_000):
        await outbox.mark_published(entry.id)
    for kind in PROJECTIONS:
        await manager.subscribe(make_projection(kind, engine, keeps_checkpoint=True))
    trouble = [error for error in (await manager.start()).values() if error]
    print("ready" if not trouble else f"not started: {trouble}", flush=True)
    while not stop.is_set():
        for entry in await outbox.get_pending_events():
            event = get_event_class(entry.event_type).model_validate(entry.event_data["payload"])
            await bus.publish([event])
            await outbox.mark_published(entry.id)
        await asyncio.sleep(POLL_SECONDS)
    await manager.stop()
    await engine.dispose()


asyncio.run(main(sys.argv[1]))
