"""A small shop on eventsource-py: its events, and three projections, two of which meet causes that can be mended."""

from collections.abc import Sequence

from eventsource import (
    DatabaseProjection,
    DomainEvent,
    SQLCheckpointRepository,
    SQLDLQRepository,
    handles,
    register_event,
)
from eventsource.application.projections.retry import ExponentialBackoffRetryPolicy
from eventsource.application.subscriptions.retry import RetryConfig
from eventsource.migrations import get_schema
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, async_sessionmaker, create_async_engine

TABLES = """
CREATE TABLE order_summary (id uuid PRIMARY KEY, customer text, total numeric, paid boolean DEFAULT false);
CREATE TABLE ledger (event_id uuid PRIMARY KEY, carrier text);
CREATE TABLE seen (event_id uuid PRIMARY KEY);
CREATE TABLE rates (currency text PRIMARY KEY, rate numeric);
CREATE TABLE carriers (name text PRIMARY KEY);
CREATE TABLE refunds_allowed (since timestamptz DEFAULT now());
INSERT INTO rates VALUES ('EUR', 1);
INSERT INTO carriers VALUES ('DHL');
"""
# As their default, three tries in all, without the six seconds that it waits between them.
IMPATIENT = ExponentialBackoffRetryPolicy(RetryConfig(max_retries=2, initial_delay=0.001, jitter=0))


@register_event
class OrderPlaced(DomainEvent):
    aggregate_type: str = "Order"
    customer: str
    total: float


@register_event
class OrderPaid(DomainEvent):
    aggregate_type: str = "Order"
    currency: str


@register_event
class OrderShipped(DomainEvent):
    aggregate_type: str = "Order"
    carrier: str


class CarrierError(Exception):
    """A carrier that nobody knows."""


class OrderSummaryProjection(DatabaseProjection):
    @handles(OrderPlaced)
    async def place(self, conn: AsyncConnection, event: OrderPlaced) -> None:
        if event.total < 0 and not (await conn.execute(text("SELECT 1 FROM refunds_allowed"))).first():
            raise ValueError(f"negative total {event.total} for order {event.aggregate_id}")
        await conn.execute(
            text("INSERT INTO order_summary VALUES (:id, :customer, :total) ON CONFLICT DO NOTHING"),
            {"id": event.aggregate_id, "customer": event.customer, "total": event.total},
        )

    @handles(OrderPaid)
    async def pay(self, conn: AsyncConnection, event: OrderPaid) -> None:
        rates = dict((await conn.execute(text("SELECT currency, rate FROM rates"))).all())
        rates[event.currency]
        paid = text("UPDATE order_summary SET paid = true WHERE id = :id")
        await conn.execute(paid, {"id": event.aggregate_id})


class LedgerProjection(DatabaseProjection):
    @handles(OrderShipped)
    async def ship(self, conn: AsyncConnection, event: OrderShipped) -> None:
        known = {name: name for (name,) in (await conn.execute(text("SELECT name FROM carriers"))).all()}
        try:
            carrier = known[event.carrier]
        except KeyError as error:
            raise CarrierError(f"carrier {event.carrier} is unknown\nexpected: one of ours") from error
        booked = text("INSERT INTO ledger VALUES (:id, :carrier) ON CONFLICT DO NOTHING")
        await conn.execute(booked, {"id": event.event_id, "carrier": carrier})


class SeenProjection(DatabaseProjection):
    """Nothing ever fails here."""

    @handles(OrderPlaced)
    async def place(self, conn: AsyncConnection, event: OrderPlaced) -> None:
        await see(conn, event)

    @handles(OrderPaid)
    async def pay(self, conn: AsyncConnection, event: OrderPaid) -> None:
        await see(conn, event)

    @handles(OrderShipped)
    async def ship(self, conn: AsyncConnection, event: OrderShipped) -> None:
        await see(conn, event)


async def see(conn: AsyncConnection, event: DomainEvent) -> None:
    await conn.execute(text("INSERT INTO seen VALUES (:id) ON CONFLICT DO NOTHING"), {"id": event.event_id})


PROJECTIONS: Sequence[type[DatabaseProjection]] = (OrderSummaryProjection, LedgerProjection, SeenProjection)


def connect(url: str, name: str) -> AsyncEngine:
    return create_async_engine(url, connect_args={"server_settings": {"application_name": name}})


def make_projection(
    kind: type[DatabaseProjection], engine: AsyncEngine, *, keeps_checkpoint: bool
) -> DatabaseProjection:
    """A replay keeps no checkpoint: handling an old event would move it backwards."""
    checkpoints = SQLCheckpointRepository(engine) if keeps_checkpoint else None
    projection = kind(async_sessionmaker(engine), checkpoints, SQLDLQRepository(engine))
    projection._retry_policy = IMPATIENT
    return projection


async def create_tables(engine: AsyncEngine) -> None:
    """Their schema as they ship it, less an extension that it does not use and this server does not have."""
    schema = get_schema("all").replace('CREATE EXTENSION IF NOT EXISTS "uuid-ossp";', "")
    async with engine.connect() as connection:
        raw = await connection.get_raw_connection()
        await raw.driver_connection.execute(schema + TABLES)
        await connection.commit()
