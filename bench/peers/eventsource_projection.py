"""eventsource-py's own projection handling, run by its own interpreter; prints events per second.

The same read model and statement as ours, with its checkpoint and dead-letter repositories attached.
"""

import asyncio
import sys
import time
from uuid import UUID, uuid5

from eventsource import DatabaseProjection, DomainEvent, SQLCheckpointRepository, SQLDLQRepository, handles
from sqlalchemy import text
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine

TABLES = """
CREATE TABLE projection_checkpoints (
    projection_name varchar(255) PRIMARY KEY, last_event_id uuid, last_event_type varchar(255),
    last_processed_at timestamptz, global_position bigint, events_processed bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(), position_token text)
"""
UPSERT = text("""
INSERT INTO bench_balance AS kept (account, amount, version) VALUES (:account, :amount, :version)
ON CONFLICT (account) DO UPDATE SET amount = kept.amount + excluded.amount, version = excluded.version
""")


class Paid(DomainEvent):
    event_type: str = "Paid"
    aggregate_type: str = "Account"
    amount: int


class Balances(DatabaseProjection):
    @handles(Paid)
    async def change(self, conn, event: Paid) -> None:
        values = {
            "account": str(event.aggregate_id),
            "amount": event.amount,
            "version": event.aggregate_version,
        }
        await conn.execute(UPSERT, values)


async def main(url: str, number: int, streams: int) -> None:
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text(TABLES))
    projection = Balances(
        async_sessionmaker(engine), SQLCheckpointRepository(engine), SQLDLQRepository(engine)
    )
    namespace = UUID(int=0)
    events = [
        Paid(
            aggregate_id=uuid5(namespace, str(n % streams)),
            aggregate_version=n // streams + 1,
            amount=n % 100,
        )
        for n in range(number)
    ]
    began = time.perf_counter()
    for event in events:
        await projection.handle(event)
    print(number / (time.perf_counter() - began))
    await engine.dispose()


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
