"""Calls through a breaker: what counts, what is refused, what it costs Redis."""

from collections import Counter

import pytest

from breakers.api import BreakerOpen, Policy, get_breaker
from dashboard.redis import get_redis
from tests.breakers.conftest import NEVER_CACHED, fail, make_breaker, open_breaker
from tests.breakers.valkey import PrivateValkey


def count_commands(server: PrivateValkey) -> Counter[str]:
    """The commands that the server has run, but for those that ask for this."""
    stats = server.client().info("commandstats")
    calls = Counter({key.removeprefix("cmdstat_"): value["calls"] for key, value in stats.items()})
    return Counter(
        {name: count for name, count in calls.items() if name not in ("info", "hello", "client|setinfo")}
    )


def test_a_call_on_a_closed_breaker_is_one_round_trip_and_leaves_no_record(valkey: PrivateValkey):
    breaker = make_breaker(valkey)
    with breaker.call():
        pass
    before = count_commands(valkey)
    with breaker.call():
        pass
    assert count_commands(valkey) - before == Counter({"hget": 1})


def test_with_the_cache_a_call_asks_nobody(valkey: PrivateValkey):
    breaker = make_breaker(valkey, policy=Policy(cache_seconds=3600))
    with breaker.call():
        pass
    before = count_commands(valkey)
    for _ in range(100):
        with breaker.call():
            pass
    assert count_commands(valkey) == before


def test_a_failure_ends_the_cache():
    breaker = get_breaker("api", Policy(failure_threshold=1, cache_seconds=3600))
    fail(breaker)
    with pytest.raises(BreakerOpen), breaker.call():
        pass


def test_an_open_breaker_refuses_and_says_when_to_come_back():
    breaker = open_breaker("orders-api")
    with pytest.raises(BreakerOpen) as refusal, breaker.call():
        pytest.fail("it was called")
    assert refusal.value.name == "orders-api"
    assert 0 < refusal.value.retry_after <= 60
    assert "orders-api is open; try again in" in str(refusal.value)


def test_as_a_decorator():
    calls = []

    @get_breaker("api", NEVER_CACHED)
    def ask(question: str) -> str:
        """Ask."""
        calls.append(question)
        raise ConnectionError

    for _ in range(3):
        with pytest.raises((ConnectionError, BreakerOpen)):
            ask("why")
    assert calls == ["why", "why"]
    assert ask.__doc__ == "Ask."


def test_only_the_exceptions_that_count_count():
    breaker = get_breaker(
        "api", Policy(failure_threshold=1, cache_seconds=0), counts=(ConnectionError, TimeoutError)
    )
    fail(breaker, ValueError("the caller's mistake"))
    fail(breaker, TimeoutError("too slow"))
    with pytest.raises(BreakerOpen), breaker.call():
        pass


class HttpError(Exception):
    def __init__(self, status_code: int) -> None:
        self.status_code = status_code


def test_service_bus_counts_throttling_and_not_what_needs_a_person():
    breaker = get_breaker("bus", "service-bus")
    for status in (401, 403, 404, 503) * 3:
        fail(breaker, HttpError(status))
    for _ in range(5):
        fail(breaker, HttpError(429))
    with pytest.raises(BreakerOpen), breaker.call():
        pass


def test_a_success_between_them_ends_a_run_of_consecutive_failures():
    breaker = get_breaker("api", NEVER_CACHED)
    for _ in range(3):
        fail(breaker)
        with breaker.call():
            pass


def test_within_a_window_failures_add_up_whatever_succeeds_between():
    now = 1_700_000_000.0
    policy = Policy(failure_threshold=3, window_seconds=60, cache_seconds=0)
    breaker = get_breaker("api", policy, clock=lambda: now)
    for at in (0, 30, 61):  # the first has left the window when the third comes
        now = 1_700_000_000.0 + at
        fail(breaker)
        with breaker.call():
            pass
    now += 10
    fail(breaker)
    with pytest.raises(BreakerOpen), breaker.call():
        pass


@pytest.mark.parametrize(("apart", "opens"), [(59.999, True), (60.0, False)])
def test_a_failure_leaves_the_window_to_the_ms(apart: float, opens: bool):
    now = 1_700_000_000.0
    policy = Policy(failure_threshold=2, window_seconds=60, cache_seconds=0)
    breaker = get_breaker("api", policy, clock=lambda: now)
    fail(breaker)
    now += apart
    fail(breaker)
    assert bool(get_redis().zcard("{redrive:breakers}:open")) == opens


def test_a_call_that_took_too_long_has_failed_though_it_returned():
    breaker = get_breaker("api", Policy(failure_threshold=1, call_timeout_seconds=0.001, cache_seconds=0))
    with breaker.call() as call:
        assert call.timeout_seconds == 0.001
        while_waiting = sum(range(1_000_000))
    assert while_waiting
    with pytest.raises(BreakerOpen), breaker.call():
        pass


def test_recovery_by_probes():
    now = 1_700_000_000.0
    policy = Policy(failure_threshold=1, open_seconds=10, success_threshold=2, cache_seconds=0)
    breaker = get_breaker("api", policy, clock=lambda: now)
    fail(breaker)
    now += 10
    with breaker.call(), pytest.raises(BreakerOpen), breaker.call():
        pytest.fail("a second probe at the same time")
    with breaker.call():
        pass
    # Closed again: two calls at once go through.
    with breaker.call(), breaker.call():
        pass


def test_a_probe_that_fails_opens_it_again():
    now = 1_700_000_000.0
    breaker = get_breaker(
        "api", Policy(failure_threshold=5, open_seconds=10, cache_seconds=0), clock=lambda: now
    )
    for _ in range(5):
        fail(breaker)
    now += 10
    fail(breaker)
    with pytest.raises(BreakerOpen) as refusal, breaker.call():
        pass
    assert refusal.value.retry_after == 10


def test_an_interrupted_probe_gives_its_slot_back_and_decides_nothing():
    now = 1_700_000_000.0
    breaker = get_breaker(
        "api", Policy(failure_threshold=1, open_seconds=10, cache_seconds=0), clock=lambda: now
    )
    fail(breaker)
    now += 10
    with pytest.raises(KeyboardInterrupt), breaker.call():
        raise KeyboardInterrupt
    with breaker.call():
        pass


def test_a_probe_loses_its_slot_at_its_deadline_and_not_before():
    now = 1_700_000_000.0
    policy = Policy(failure_threshold=1, open_seconds=10, call_timeout_seconds=1, cache_seconds=0)
    breaker = get_breaker("api", policy, clock=lambda: now)
    fail(breaker)
    now += 10
    lost = breaker.call()
    lost.__enter__()
    now += 5.999
    with pytest.raises(BreakerOpen), breaker.call():
        pass
    now += 0.001
    with breaker.call():
        # The one that was given up for lost comes back, and changes nothing.
        lost.__exit__(RuntimeError, RuntimeError("late"), None)


def test_a_slow_call_of_an_earlier_state_changes_nothing():
    now = 1_700_000_000.0
    breaker = get_breaker(
        "api", Policy(failure_threshold=1, open_seconds=10, cache_seconds=0), clock=lambda: now
    )
    slow = breaker.call()
    slow.__enter__()
    fail(breaker)
    now += 10
    with breaker.call():
        pass
    slow.__exit__(RuntimeError, RuntimeError("an hour late"), None)
    with breaker.call():
        pass


def test_a_call_that_another_breaker_refused_says_nothing_about_this_one():
    inner = open_breaker("inner")
    outer = get_breaker("outer", Policy(failure_threshold=1, cache_seconds=0))
    with pytest.raises(BreakerOpen), outer.call(), inner.call():
        pass
    with outer.call():
        pass


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("error", [Unprintable(), ValueError("\0\udcff" + "long" * 1000)])
def test_an_error_that_nothing_can_hold_is_passed_on_unharmed(error: Exception):
    fail(get_breaker("api", NEVER_CACHED), error)


@pytest.mark.parametrize("name", ["", "x" * 201, "two\nlines", "nul\0", "half \ud83d"])
def test_a_name_that_a_page_could_not_show_is_refused(name: str):
    with pytest.raises(ValueError, match="printable"):
        get_breaker(name)


@pytest.mark.parametrize("name", ["{other}:tag", "a b", "*", "https://x.example/?a=1&b={c}", "naïve ✓"])
def test_any_other_name_works(name: str):
    open_breaker(name)
    assert list(get_redis().scan_iter(match="*", count=1000))
    assert all(key.startswith("{redrive:breakers}:") for key in get_redis().scan_iter())


@pytest.mark.parametrize(
    "wrong",
    [{"failure_threshold": 0}, {"open_seconds": 0}, {"window_seconds": -1}, {"half_open_probes": 10**6}],
)
def test_a_policy_that_makes_no_sense_is_refused(wrong: dict):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Policy(**wrong)


def test_an_unknown_profile_names_those_that_exist():
    with pytest.raises(ValueError, match="blob-storage, default, escrow, key-vault, service-bus, webhook"):
        get_breaker("api", "webhok")
