"""Redis killed, hung, emptied and without its scripts, in the middle of calls."""

import threading
import time
from collections.abc import Callable

import pytest

from breakers import contact, wire
from breakers.api import BreakerOpen, Policy
from breakers.breaker import Breaker
from tests.breakers.conftest import NEVER_CACHED, fail, make_breaker
from tests.breakers.valkey import PrivateValkey
from tests.wait import PATIENT, until


@pytest.fixture(autouse=True)
def _short_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that wait for Redis to be asked again need not wait long."""
    monkeypatch.setattr(contact, "PAUSE_SECONDS", 0.2)


def call(breaker: Breaker) -> bool:
    with breaker.call():
        return True


def is_refused(breaker: Breaker) -> bool:
    try:
        return not call(breaker)
    except BreakerOpen:
        return True


def test_killed_calls_go_through(valkey: PrivateValkey):
    breaker = make_breaker(valkey)
    assert call(breaker)
    valkey.kill()
    assert all(call(breaker) for _ in range(20))


def test_killed_the_local_breaker_protects(valkey: PrivateValkey):
    breaker = make_breaker(valkey)
    valkey.kill()
    fail(breaker)
    fail(breaker)
    assert is_refused(breaker)


def test_killed_in_the_middle_of_a_call_its_failure_is_the_first_that_counts_locally(valkey: PrivateValkey):
    breaker = make_breaker(valkey)
    fail(breaker, during=valkey.kill)
    fail(breaker)
    assert is_refused(breaker)


def test_killed_what_redis_refused_stays_refused(valkey: PrivateValkey):
    breaker = make_breaker(valkey)
    fail(breaker)
    fail(breaker)
    assert is_refused(breaker)
    valkey.kill()
    assert is_refused(breaker)


def test_back_again_redis_word_counts(valkey: PrivateValkey):
    breaker = make_breaker(valkey)
    valkey.kill()
    fail(breaker)
    fail(breaker)
    assert is_refused(breaker)
    valkey.start()
    # It has forgotten everything, so the breaker is closed.
    until(lambda: not is_refused(breaker))
    assert valkey.client().exists("{redrive:breakers}:breaker:api")


def test_hung_calls_go_through_and_do_not_pile_up(valkey: PrivateValkey, monkeypatch: pytest.MonkeyPatch):
    """Of a hundred calls in eight threads only those that were first wait; the others do not even ask."""
    monkeypatch.setattr(contact, "PAUSE_SECONDS", 600)
    breaker = make_breaker(valkey, budget_seconds=contact.BUDGET_SECONDS)
    assert call(breaker)
    asked = []
    read_gate = breaker._shared.read_gate
    monkeypatch.setattr(breaker._shared, "read_gate", lambda: asked.append(1) or read_gate())
    valkey.hang()
    results: list[bool] = []

    def work() -> None:
        results.extend(call(breaker) for _ in range(100))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 800
    assert len(asked) <= 8
    valkey.go_on()


def test_hung_and_tried_again_by_one_call_at_a_time(valkey: PrivateValkey):
    breaker = make_breaker(valkey, budget_seconds=contact.BUDGET_SECONDS)
    assert call(breaker)
    valkey.hang()
    assert call(breaker)
    time.sleep(contact.PAUSE_SECONDS)
    assert [breaker._contact.is_away() for _ in range(5)] == [False, True, True, True, True]
    valkey.go_on()
    until(lambda: call(breaker) and not breaker._contact._silent_until)


def test_the_patience_for_one_call_is_the_budget():
    """A call asks once and reports once; each is cut off at half the budget."""
    options = contact.Contact("unix:///nowhere").redis.connection_pool.connection_kwargs
    assert options["socket_timeout"] * contact.CONTACTS_PER_CALL == 0.05
    assert options["socket_connect_timeout"] * contact.CONTACTS_PER_CALL == 0.05
    assert options["retry"].get_retries() == 0


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let it be later by so much whenever a contact looks at its clock the next so many times."""
    monkeypatch.setattr(contact, "PAUSE_SECONDS", 0)
    jumps: list[float] = []
    monkeypatch.setattr(wire, "monotonic", lambda: time.monotonic() + (jumps.pop() if jumps else 0))
    return lambda looks, seconds: jumps.extend([seconds] * looks)


def test_several_answers_take_no_more_time_than_one(
    valkey: PrivateValkey, late: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    breaker, other = make_breaker(valkey), make_breaker(valkey)
    assert call(breaker)
    fail(other)
    fail(other)
    read_gate = breaker._shared.read_gate

    def read_slowly() -> object:
        gate = read_gate()
        late(2, PATIENT)
        return gate

    monkeypatch.setattr(breaker._shared, "read_gate", read_slowly)
    assert call(breaker)
    # It does not read the gate again, which it knows not to be closed.
    assert is_refused(breaker)


def test_a_connection_that_took_the_time_is_kept_for_the_next_call(
    valkey: PrivateValkey, late: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    breaker = make_breaker(valkey)
    pool = breaker._contact.redis.connection_pool
    connect = pool.get_connection

    def connect_slowly() -> object:
        connection = connect()
        late(1, breaker._contact._patience * 0.75)
        return connection

    with monkeypatch.context() as slowly:
        slowly.setattr(pool, "get_connection", connect_slowly)
        assert call(breaker)
        assert breaker._contact._silent_until
    [kept] = pool._available_connections
    assert call(breaker)
    assert not breaker._contact._silent_until
    assert pool._available_connections == [kept]


def test_flushed_it_is_closed_and_announces_itself_again(valkey: PrivateValkey):
    breaker = make_breaker(valkey, used_by="target a")
    fail(breaker)
    fail(breaker)
    assert is_refused(breaker)
    valkey.client().flushall()
    assert call(breaker)
    assert call(breaker)
    fields = valkey.client().hgetall("{redrive:breakers}:breaker:api")
    assert fields[b"gate"] == b"closed 0"
    assert b"policy" in fields
    assert b"user:target a" in fields


def test_flushed_in_the_middle_of_a_probe_its_result_is_no_longer_of_interest(valkey: PrivateValkey):
    now = 1_700_000_000.0
    breaker = make_breaker(valkey, policy=NEVER_CACHED, clock=lambda: now)
    fail(breaker)
    fail(breaker)
    now += 60
    fail(breaker, during=valkey.client().flushall)
    assert call(breaker)


def test_scripts_flushed_in_the_middle_they_are_sent_again(valkey: PrivateValkey):
    breaker = make_breaker(valkey)
    fail(breaker)
    fail(breaker, during=valkey.client().script_flush)
    assert is_refused(breaker)
    valkey.client().script_flush()
    assert is_refused(breaker)


def test_full_the_local_breaker_protects_although_redis_still_answers(
    valkey: PrivateValkey, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(contact, "PAUSE_SECONDS", 0)
    breaker = make_breaker(valkey)
    assert call(breaker)
    valkey.client().config_set("maxmemory", 1)
    fail(breaker)
    fail(breaker)
    assert is_refused(breaker)
    valkey.client().config_set("maxmemory", 0)
    # Redis's word counts again.
    assert call(breaker)


def test_a_read_only_replica_does_not_stop_calls(valkey: PrivateValkey):
    replica = PrivateValkey("--replicaof", "127.0.0.1", "1")
    try:
        breaker = make_breaker(replica, policy=Policy(failure_threshold=1, cache_seconds=0))
        assert call(breaker)
        fail(breaker)
        assert is_refused(breaker)
    finally:
        replica.close()
