"""Lives for the warehouse: writes its events, moves its checkpoints, and puts what fails into its own table."""

import json
import random
import traceback
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
from psycopg.types.json import Jsonb

from demo.sales import PRODUCTS
from demo.warehouse import schema
from demo.warehouse.handlers import PROJECTIONS

EVENT_TYPES = ("PalletReceived", "PalletStored", "PalletPicked")
# Seconds between two events, and how many come at once now and then.
EVERY, BURST, BURST_SHARE = 30.0, 25, 0.02
TRIES = 3
# Of the past.
SLICE = timedelta(minutes=1)
KEEP_EVENTS, KEEP_LETTERS = 5_000, 60
NAMELESS_SHARE, EMPTY_SHARE = 0.006, 0.004
RETRIED_BY = "warehouse worker"


class Warehouse:
    """`tick` brings it up to a moment; its places are in its own tables, so it may be started again at any time."""

    def __init__(self, url: str, at: datetime, *, speed: int = 1, seed: int = 7) -> None:
        self.url = url
        self.connection = self.connect()
        self.connection.execute(schema.SCHEMA)
        self.at = self.next_at = at
        self.speed = speed
        self.random = random.Random(seed)

    def connect(self) -> psycopg.Connection:
        return psycopg.connect(self.url, autocommit=True, connect_timeout=3, application_name="warehouse")

    def make_past(self, past: timedelta) -> None:
        """Live up to where it stands, if it has not lived yet."""
        found = self.connection.execute("SELECT EXISTS (SELECT FROM events)").fetchone()
        if found and found[0]:
            return
        present, speed = self.at, self.speed
        self.go_on_from(present - past)
        # It lived at an ordinary pace then.
        self.speed = 1
        while self.at < present:
            self.tick(min(self.at + SLICE, present))
        self.speed = speed

    def go_on_from(self, at: datetime) -> None:
        """Leave out what would have come until then."""
        self.at = self.next_at = at

    def tick(self, to: datetime) -> None:
        if self.connection.closed:
            self.connection = self.connect()
        with self.connection.transaction():
            while self.next_at <= to:
                for _ in range(BURST if self.random.random() < BURST_SHARE else 1):
                    self.add_event(self.next_at)
                self.next_at += timedelta(seconds=self.random.expovariate(1 / EVERY) / self.speed)
            seconds = max((to - self.at).total_seconds(), 1.0)
            for name, (_, rate) in PROJECTIONS.items():
                self.consume(name, to, limit=round(rate * seconds * self.speed) or 1)
            self.retry(to)
        self.at = to

    def add_event(self, at: datetime) -> None:
        sku = self.random.choice(PRODUCTS)
        shelf = f"{self.random.choice('ABCD')}{self.random.randint(1, 40)}"
        payload = {
            "sku": sku,
            "quantity": self.random.randint(1, 40),
            # An old app on a hand-held device sends neither.
            "location": {} if self.random.random() < NAMELESS_SHARE else {"shelf": shelf},
            "carrier": "" if self.random.random() < EMPTY_SHARE else "van",
        }
        self.connection.execute(
            schema.ADD_EVENT,
            {
                "event_id": uuid4(),
                "pallet": uuid4(),
                "type": self.random.choice(EVENT_TYPES),
                "version": 1,
                "at": at,
                "payload": Jsonb(payload),
            },
        )

    def consume(self, name: str, at: datetime, *, limit: int) -> None:
        rows = self.connection.execute(schema.READ_NEXT, {"name": name, "limit": limit}).fetchall()
        for position, event_id, event_type, payload in rows:
            self.handle(name, event_id, event_type, payload, at, tries=TRIES)
            token = json.dumps({"s": f"pg:{self.connection.info.dbname}", "k": [position]})
            moved = {"name": name, "event_id": event_id, "type": event_type, "at": at, "token": token}
            self.connection.execute(schema.MOVE_CHECKPOINT, moved)

    def handle(
        self, name: str, event_id: Any, event_type: str, payload: Any, at: datetime, *, tries: int
    ) -> bool:
        """True if it went well; otherwise it is in the table."""
        try:
            PROJECTIONS[name][0](payload)
        except Exception as error:
            failure = {
                "event_id": event_id,
                "name": name,
                "type": event_type,
                "payload": Jsonb(payload),
                "message": str(error),
                "trace": traceback.format_exc(),
                "tries": tries,
                "at": at,
            }
            self.connection.execute(schema.ADD_FAILURE, failure)
            return False
        return True

    def retry(self, at: datetime) -> None:
        """What somebody asked to be tried again: that is how this system is told."""
        for row_id, event_id, name, event_type, payload, tries in self.connection.execute(
            schema.LIST_RETRYING
        ).fetchall():
            if self.handle(name, event_id, event_type, payload, at, tries=tries + 1):
                self.connection.execute(schema.RESOLVE, {"id": row_id, "at": at, "who": RETRIED_BY})

    def prune(self) -> None:
        values = {"events": KEEP_EVENTS, "letters": KEEP_LETTERS}
        for statement in schema.FORGET:
            self.connection.execute(statement, values)

    def close(self) -> None:
        self.connection.close()
