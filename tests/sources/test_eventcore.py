"""EventCore's subscriptions, on its own tables and its own lock."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.contrib.auth.models import User

from dashboard.models import Run
from projections.models import ForeignProjection
from projections.operations import reset_foreign_checkpoint
from sources.checkpoints.eventcore import get_lock_key
from sources.models import SourceState
from tests.dlq.replay.conftest import run_all, totals
from tests.sources.foreign import foreign_database

DDL = """
CREATE TABLE eventcore_events (
  event_id UUID PRIMARY KEY, stream_id TEXT NOT NULL, stream_version BIGINT NOT NULL DEFAULT 0,
  event_type TEXT NOT NULL, event_data JSONB NOT NULL, metadata JSONB NOT NULL DEFAULT '{}',
  created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  UNIQUE (stream_id, stream_version));
CREATE TABLE eventcore_subscription_versions (
  subscription_name TEXT PRIMARY KEY, last_position UUID NOT NULL, updated_at TIMESTAMPTZ NOT NULL DEFAULT now());
"""
ADD = """
INSERT INTO eventcore_events (event_id, stream_id, stream_version, event_type, event_data, created_at)
VALUES (uuidv7(), 'account-1', (SELECT count(*) FROM eventcore_events), %s, '{}', now() - %s::interval)
RETURNING event_id
"""
SAVE = """
INSERT INTO eventcore_subscription_versions VALUES ('balances', %s, now() - %s::interval)
ON CONFLICT (subscription_name) DO UPDATE SET last_position = excluded.last_position, updated_at = excluded.updated_at
"""
OLD = "2 minutes"


@pytest.fixture
def core(transactional_db: None, settings: Any) -> Iterator[psycopg.Connection]:
    with foreign_database(DDL) as dsn, psycopg.connect(dsn, autocommit=True) as connection:
        settings.SOURCES = {"core": {"kind": "eventcore", "dsn": dsn}}
        settings.CONSUMERS = {"core/balances": {"event_types": ["Paid"]}}
        yield connection


@pytest.fixture
def look(sync: Callable[..., SourceState]) -> Callable[[], ForeignProjection]:
    def look() -> ForeignProjection:
        for state in SourceState.objects.filter(name="core"):
            state.cursor.pop("checkpoints_at", None)
            state.save()
        assert not sync("core").error
        return ForeignProjection.objects.get(source="core", name="balances")

    return look


def add(core: psycopg.Connection, event_type: str = "Paid", age: str = OLD) -> Any:
    return core.execute(ADD, [event_type, age]).fetchall()[0][0]


@pytest.mark.parametrize(
    ("name", "key"),
    [("", 0xCBF29CE484222325), ("a", 0xAF63DC4C8601EC8C), ("foobar", 0x85944171F73967E8)],
)
def test_the_lock_is_the_known_hash_of_the_name(name: str, key: int) -> None:
    assert get_lock_key(name) % (1 << 64) == key


def test_its_lag_is_in_events_of_its_own_type(
    core: psycopg.Connection, look: Callable[[], ForeignProjection], settings: Any
) -> None:
    core.execute(SAVE, [add(core), OLD])
    add(core, "Noted")
    add(core)
    add(core)
    row = look()
    assert (row.lag, row.lag_bound) == (2, "")
    assert 115 < (row.delay_seconds or 0) < 600
    assert "no trace" in row.unaccounted["sentence"]
    settings.CONSUMERS = {}
    row = look()
    assert (row.lag, row.delay_seconds) == (None, None)
    assert "event_types" in row.lag_note


def test_it_is_stopped_when_nobody_leads_and_events_wait(
    core: psycopg.Connection, look: Callable[[], ForeignProjection]
) -> None:
    first = add(core)
    core.execute(SAVE, [first, OLD])
    row = look()
    # A projector that works in batches comes and goes.
    assert (row.state, row.evidence) == ("unknown", "Nothing waits. Nobody holds its leader lock.")
    second = add(core)
    row = look()
    assert row.state == "stopped"
    assert row.evidence.startswith("Nobody holds its leader lock. 1 event waits, the first for 2 min")
    core.execute("SET application_name = 'teller'")
    core.execute("SELECT pg_advisory_lock(%s)", [get_lock_key("balances")])
    row = look()
    assert row.state == "stalled"
    assert row.evidence.startswith("teller holds its leader lock. But its checkpoint has not moved for 2 min")
    core.execute(SAVE, [second, "0 s"])
    row = look()
    assert (row.state, row.evidence) == ("running", "teller holds its leader lock. Nothing waits.")


def test_it_is_reset_under_its_own_lock(
    core: psycopg.Connection, look: Callable[[], ForeignProjection], make_user: Callable[..., User]
) -> None:
    admin = make_user("somebody", role="admin")

    def reset(row: ForeignProjection) -> Run:
        given = {"actor": admin, "reason": "tests", "request_key": uuid4()}
        return run_all(reset_foreign_checkpoint(row, row.stamp, **given))

    def is_there() -> bool:
        return bool(core.execute("SELECT 1 FROM eventcore_subscription_versions").fetchall())

    first = add(core)
    core.execute(SAVE, [first, OLD])
    stale = look()
    core.execute(SAVE, [add(core), OLD])
    assert totals(reset(stale)) == {"refused": 1}
    key = get_lock_key("balances")
    core.execute("SELECT pg_advisory_lock(%s)", [key])
    assert totals(reset(look())) == {"refused": 1}
    core.execute("SELECT pg_advisory_unlock(%s)", [key])
    assert is_there()
    assert totals(reset(look())) == {"reset": 1}
    assert not is_there()
    assert look().reset["verdict"] == "waiting"
    # It was held off, so whatever comes back has begun anew.
    core.execute(SAVE, [add(core), "0 s"])
    assert look().reset["verdict"] == "holds"
