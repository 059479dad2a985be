"""Systems that keep checkpoints, for the tests: their own tables, and their owners' hands on them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import uuid4

import psycopg

from sources.checkpoints.eventcore import get_lock_key
from tests.sources.foreign import EVENTSOURCE_PY, foreign_database
from tests.wait import until

NAME, TYPE, OTHER_TYPE, WORKER = "balances", "Paid", "Noted", "teller"
RESTED, FRESH = "2 minutes", "0 s"

EVENTSOURCE_PY_CHECKPOINTS = (
    EVENTSOURCE_PY
    + """
CREATE INDEX idx_dlq_projection_status ON dead_letter_queue(projection_name, status);
CREATE TABLE events (
  global_position BIGSERIAL PRIMARY KEY, event_id UUID NOT NULL UNIQUE, aggregate_id UUID NOT NULL,
  aggregate_type VARCHAR(255) NOT NULL, event_type VARCHAR(255) NOT NULL, tenant_id UUID, actor_id VARCHAR(255),
  version INTEGER NOT NULL, timestamp TIMESTAMPTZ NOT NULL, payload JSONB NOT NULL,
  created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  CONSTRAINT uq_events_aggregate_version UNIQUE (aggregate_id, aggregate_type, version));
CREATE TABLE projection_checkpoints (
  projection_name VARCHAR(255) PRIMARY KEY, last_event_id UUID, last_event_type VARCHAR(255),
  last_processed_at TIMESTAMPTZ, global_position BIGINT, events_processed BIGINT NOT NULL DEFAULT 0,
  created_at TIMESTAMPTZ NOT NULL DEFAULT now(), updated_at TIMESTAMPTZ NOT NULL DEFAULT now(), position_token TEXT);
"""
)
SESSIONS = """
SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = %(worker)s
"""
EVENTCORE = """
CREATE TABLE eventcore_events (
  event_id UUID PRIMARY KEY, stream_id TEXT NOT NULL, stream_version BIGINT NOT NULL DEFAULT 0,
  event_type TEXT NOT NULL, event_data JSONB NOT NULL, metadata JSONB NOT NULL DEFAULT '{}',
  created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  UNIQUE (stream_id, stream_version));
CREATE TABLE eventcore_subscription_versions (
  subscription_name TEXT PRIMARY KEY, last_position UUID NOT NULL, updated_at TIMESTAMPTZ NOT NULL DEFAULT now());
"""


class Keeper:
    """A system whose projection `balances` handles events of the type Paid."""

    kind: str
    ddl: str
    checkpoints: str
    add_event: str
    save_checkpoint: str
    # What redrive.toml says of the source besides its address.
    told: dict[str, Any] = {}

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.connection = psycopg.connect(dsn, autocommit=True)

    @property
    def configuration(self) -> dict[str, Any]:
        return {"kind": self.kind, "dsn": self.dsn} | self.told

    def execute(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        found = self.connection.execute(statement, values)
        return found.fetchall() if found.description else []

    def append(self, event_type: str = TYPE, *, age: str = RESTED) -> str:
        """An event; gives its id."""
        values = {"event_id": uuid4(), "type": event_type, "age": age}
        return str(self.execute(self.add_event, **values)[0][0])

    def save(self, event_id: str, *, age: str = RESTED) -> None:
        """Its worker has come to this event."""
        self.execute(self.save_checkpoint, name=NAME, event_id=event_id, age=age)

    def has_checkpoint(self) -> bool:
        return bool(self.execute(f"TABLE {self.checkpoints}"))


Kept = TypeVar("Kept", bound=Keeper)


@contextmanager
def keeping(kind: type[Kept]) -> Iterator[Kept]:
    """Such a system, with a database of its own."""
    with foreign_database(kind.ddl) as dsn:
        keeper = kind(dsn)
        with keeper.connection:
            yield keeper


class EventsourcePy(Keeper):
    kind = "eventsource-py"
    ddl = EVENTSOURCE_PY_CHECKPOINTS
    checkpoints = "projection_checkpoints"
    told = {"worker": WORKER}
    add_event = """
        INSERT INTO events (event_id, aggregate_id, aggregate_type, event_type, version, timestamp, payload, created_at)
        VALUES (%(event_id)s, %(event_id)s, 'Account', %(type)s, 1, now(), '{}', now() - %(age)s::interval)
        RETURNING event_id"""
    save_checkpoint = """
        INSERT INTO projection_checkpoints
            (projection_name, last_event_id, last_event_type, events_processed, updated_at)
        VALUES (%(name)s, %(event_id)s, 'Paid', 1, now() - %(age)s::interval)
        ON CONFLICT (projection_name) DO UPDATE SET last_event_id = excluded.last_event_id,
            events_processed = projection_checkpoints.events_processed + 1, updated_at = excluded.updated_at"""
    may_read = "GRANT SELECT ON projection_checkpoints, events, dead_letter_queue TO"

    @contextmanager
    def working(self) -> Iterator[None]:
        """A worker is there, as it can be seen."""
        with psycopg.connect(self.dsn, application_name=WORKER):
            yield
        # Its server may take a moment to see that it is gone.
        until(lambda: not self.execute(SESSIONS, worker=WORKER))

    def add_letter(self, event_id: str, *, age: str, consumer: str = NAME) -> None:
        self.execute(
            """INSERT INTO dead_letter_queue (event_id, projection_name, event_type, event_data, error_message,
                   first_failed_at)
               VALUES (%(event_id)s, %(consumer)s, 'Paid', '{}', 'no', now() - %(age)s::interval)""",
            event_id=event_id,
            consumer=consumer,
            age=age,
        )


class EventCore(Keeper):
    kind = "eventcore"
    ddl = EVENTCORE
    checkpoints = "eventcore_subscription_versions"
    add_event = """
        INSERT INTO eventcore_events (event_id, stream_id, stream_version, event_type, event_data, created_at)
        VALUES (uuidv7(), 'account-1', (SELECT count(*) FROM eventcore_events), %(type)s, '{}',
            now() - %(age)s::interval)
        RETURNING event_id"""
    save_checkpoint = """
        INSERT INTO eventcore_subscription_versions VALUES (%(name)s, %(event_id)s, now() - %(age)s::interval)
        ON CONFLICT (subscription_name)
        DO UPDATE SET last_position = excluded.last_position, updated_at = excluded.updated_at"""
    may_read = "GRANT SELECT ON eventcore_subscription_versions, eventcore_events TO"

    @contextmanager
    def working(self) -> Iterator[None]:
        """Somebody leads, as it can be seen."""
        key = get_lock_key(NAME)
        self.execute("SELECT pg_advisory_lock(%(key)s)", key=key)
        try:
            yield
        finally:
            self.execute("SELECT pg_advisory_unlock(%(key)s)", key=key)
