"""Foreign systems for the tests: their own databases with their own tables, as they create them."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import psycopg
from django.db import connection

from dlq.api import record_failure
from tests.wait import until

EVENTSOURCE_PY = """
CREATE TABLE dead_letter_queue (
  id BIGSERIAL PRIMARY KEY, event_id UUID NOT NULL, projection_name VARCHAR(255) NOT NULL,
  event_type VARCHAR(255) NOT NULL,
  event_data JSONB NOT NULL, error_message TEXT NOT NULL, error_stacktrace TEXT, retry_count INTEGER NOT NULL DEFAULT 0,
  first_failed_at TIMESTAMPTZ NOT NULL DEFAULT now(), last_failed_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  status VARCHAR(20) NOT NULL DEFAULT 'failed' CHECK (status IN ('failed','retrying','resolved')),
  resolved_at TIMESTAMPTZ, resolved_by VARCHAR(255),
  CONSTRAINT uq_dlq_event_projection UNIQUE (event_id, projection_name));
CREATE INDEX idx_dlq_status ON dead_letter_queue(status);
CREATE INDEX idx_dlq_active_failures ON dead_letter_queue(first_failed_at) WHERE status IN ('failed','retrying');
"""
PLATFORM_SERVICES = """
CREATE TABLE dlq (
  dlq_id UUID PRIMARY KEY DEFAULT uuidv7(), consumer VARCHAR(255) NOT NULL, event_id UUID NOT NULL,
  event_payload JSONB NOT NULL, error_message TEXT NOT NULL, failed_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  retry_count INT NOT NULL DEFAULT 0, status VARCHAR(50) NOT NULL DEFAULT 'pending'
  CHECK (status IN ('pending','replayed','discarded')));
"""
# Somebody's own: an enum, a time without zone, JSON as text, a column with a capital letter.
HOME_MADE = """
CREATE TYPE message_state AS ENUM ('new', 'again', 'running', 'done', 'dropped');
CREATE TABLE failed_messages (
  id SERIAL PRIMARY KEY, "Handler" TEXT NOT NULL, message_id TEXT NOT NULL, body TEXT NOT NULL, error TEXT,
  state message_state NOT NULL DEFAULT 'new', failed TIMESTAMP DEFAULT (now() AT TIME ZONE 'UTC'),
  tries INT NOT NULL DEFAULT 1, done_by TEXT);
"""
HOME_MADE_TOML: dict[str, Any] = {
    "kind": "sql",
    "table": "failed_messages",
    "key": "id",
    "consumer": "Handler",
    "event_id": "message_id",
    "payload": "body",
    "event_type": "$.event_type",
    "error_message": "error",
    "attempts": "tries",
    "failed_at": "failed",
    "status": "state",
    "closed_by": "done_by",
    "sequence": "$.aggregate_id",
    "open": ["new", "again"],
    "resolved": "done",
    "discarded": "dropped",
    "retry": "again",
}

ADD = {
    "eventsource-py": """
        INSERT INTO dead_letter_queue (event_id, projection_name, event_type, event_data, error_message,
            error_stacktrace, retry_count, first_failed_at, last_failed_at)
        VALUES (%(event_id)s, %(consumer)s, %(event_type)s, %(payload)s, %(error)s, %(trace)s, 3, now(), now())
        RETURNING id::text""",
    "platform-services": """
        INSERT INTO dlq (consumer, event_id, event_payload, error_message, retry_count)
        VALUES (%(consumer)s, %(event_id)s, %(payload)s, %(error)s, 3) RETURNING dlq_id::text""",
    "sql": """
        INSERT INTO failed_messages ("Handler", message_id, body, error, tries)
        VALUES (%(consumer)s, %(event_id)s, %(payload)s, %(error)s, 3) RETURNING id::text""",
}
# The owner tries again and fails again, whatever the row said before; resolved_at and resolved_by stay behind.
FAIL_AGAIN = {
    "eventsource-py": """UPDATE dead_letter_queue SET status = 'failed', retry_count = retry_count + 1,
        last_failed_at = clock_timestamp(), error_message = %(error)s WHERE id = %(key)s""",
    "platform-services": """UPDATE dlq SET status = 'pending', retry_count = retry_count + 1,
        failed_at = clock_timestamp(), error_message = %(error)s WHERE dlq_id = %(key)s""",
    "sql": """UPDATE failed_messages SET state = 'new', tries = tries + 1,
        failed = clock_timestamp() AT TIME ZONE 'UTC', error = %(error)s WHERE id = %(key)s""",
}
TABLE = {
    "eventsource-py": ("dead_letter_queue", "id", "status", "resolved_by"),
    "platform-services": ("dlq", "dlq_id", "status", "NULL"),
    "sql": ("failed_messages", "id", "state", "done_by"),
}
DDL = {"eventsource-py": EVENTSOURCE_PY, "platform-services": PLATFORM_SERVICES, "sql": HOME_MADE}
WORDS = {
    "eventsource-py": {
        "open": "failed",
        "resolved": "resolved",
        "discarded": "resolved",
        "retry": "retrying",
    },
    "platform-services": {"open": "pending", "resolved": "replayed", "discarded": "discarded", "retry": ""},
    "sql": {"open": "new", "resolved": "done", "discarded": "dropped", "retry": "again"},
}
# The same table, which holds its messages as bytes.
DDL["bytea"] = HOME_MADE.replace("body TEXT", "body BYTEA")
SHARED: list[dict[str, Any]] = [ADD, FAIL_AGAIN, TABLE, WORDS]
for by_kind in SHARED:
    by_kind["bytea"] = by_kind["sql"]

WAITS = """
SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = database AND d.datname = current_database()
WHERE locktype = 'advisory' AND NOT granted
"""
TRACE = 'Traceback (most recent call last):\n  File "/app/shop/orders.py", line 7, in apply\n    total()\n'


class Foreign:
    """A foreign system: its owner's hands on its own table."""

    source = "orders"

    def __init__(self, kind: str, dsn: str) -> None:
        self.kind = kind
        self.dsn = dsn
        self.table, self.key, self.status, self.by = TABLE[kind]
        self.words = WORDS[kind]
        self.connection = psycopg.connect(dsn, autocommit=True)

    @property
    def configuration(self) -> dict[str, Any]:
        is_preset = self.kind in ("eventsource-py", "platform-services")
        return ({"kind": self.kind} if is_preset else HOME_MADE_TOML) | {"dsn": self.dsn}

    def execute(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        found = self.connection.execute(statement, values)
        return found.fetchall() if found.description else []

    def add(self, number: int = 1, **fields: Any) -> list[str]:
        """So many failures; returns their keys."""
        return [self.add_one(n, **fields) for n in range(number)]

    def add_one(self, n: int = 0, **fields: Any) -> str:
        event_id = fields.pop("event_id", str(uuid4()))
        given = {
            "consumer": "OrderSummary",
            "event_type": "OrderPlaced",
            "error": f"negative total -{n}.5",
            "sequence": f"order-{n}",
        } | fields
        trace = f"{TRACE}ValueError: {given['error']}\n"
        payload = json.dumps(
            {
                "event_type": given["event_type"],
                "aggregate_id": given["sequence"],
                "aggregate_version": n + 1,
                "total": -n,
            }
        )
        values = {"event_id": event_id, "trace": given.get("trace", trace), "payload": payload} | given
        return str(self.execute(ADD[self.kind], **values)[0][0])

    def fail_again(self, key: str, error: str = "still negative") -> None:
        self.execute(FAIL_AGAIN[self.kind], key=key, error=error)

    def set_status(self, key: str, word: str) -> None:
        self.execute(
            f"UPDATE {self.table} SET {self.status} = %(word)s WHERE {self.key} = %(key)s", key=key, word=word
        )

    def delete(self, key: str) -> None:
        self.execute(f"DELETE FROM {self.table} WHERE {self.key} = %(key)s", key=key)

    @contextmanager
    def delaying(self, work: Callable[[], Any]) -> Iterator[None]:
        """Somebody does this, and writes to the table; the write is under way until the block ends."""
        self.execute(f"""
            CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN new; END';
            CREATE TRIGGER take_time BEFORE UPDATE ON {self.table} FOR EACH ROW EXECUTE FUNCTION take_time();
            SELECT pg_advisory_lock(1)""")
        thread = Thread(target=lambda: (work(), connection.close()))
        thread.start()
        try:
            until(lambda: self.execute(WAITS))
            yield
        finally:
            self.execute("SELECT pg_advisory_unlock(1)")
            thread.join()
            self.execute("DROP FUNCTION take_time CASCADE")

    def get_status(self, key: str) -> tuple[str, str | None]:
        """The row's status and who resolved it."""
        [row] = self.execute(
            f"SELECT {self.status}::text, {self.by}::text FROM {self.table} WHERE {self.key} = %(key)s",
            key=key,
        )
        return row[0], row[1]


class Native:
    """Our own consumers, who report here: there is no other side."""

    source = "native"

    def add(self, number: int = 1) -> list[str]:
        for n in range(number):
            self.report(f"event-{n}", n, f"negative total -{n}.5", attempts=3)
        return [f"event-{n}" for n in range(number)]

    def report(self, key: str, n: int, error: str, attempts: int) -> None:
        record_failure(
            source=self.source,
            source_key=key,
            event_id=key,
            consumer="OrderSummary",
            event_type="OrderPlaced",
            payload={"total": -n},
            sequence_key=f"order-{n}",
            error_type="ValueError",
            error_message=error,
            attempts=attempts,
        )

    def fail_again(self, key: str, error: str = "still negative") -> None:
        self.report(key, 0, error, attempts=4)


@contextmanager
def foreign_database(ddl: str, *, encoding: str = "UTF8") -> Iterator[str]:
    """A database of its own on the tests' server; gives its address."""
    found = connection.settings_dict
    name = f"foreign_{uuid4().hex[:12]}"
    server = f"postgresql://{found['USER']}@/{{}}?host={quote(found['HOST'], safe='')}"
    with psycopg.connect(server.format("postgres"), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
        try:
            with psycopg.connect(server.format(name), autocommit=True) as made:
                made.execute(ddl)
            yield server.format(name)
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
