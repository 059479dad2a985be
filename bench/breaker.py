"""What a protected call costs: ours, pybreaker with Redis storage, and a bare GET, in one process and in four.

The protected function does nothing, so only the protection is measured. All use the same server over the same socket,
with equal clients. Rounds are interleaved, so that a busy machine slows all of them alike, and the median round counts.
"""

import logging
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable

import pybreaker
import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from bench.report import Bar, report
from breakers.breaker import Breaker
from breakers.contact import Contact
from breakers.policy import Policy

ROUNDS = 60
CALLS = 100
PROCESSES = 4
THRESHOLD = 5
# Nothing may go by the local breaker here, however busy the machine is.
PATIENT_SECONDS = 10

Figures = dict[str, float]


def main() -> None:
    alone = measure()
    context = multiprocessing.get_context("fork")
    with context.Pool(PROCESSES) as pool:
        crowd = pool.map(measure_one_of, range(PROCESSES), chunksize=1)
    together = {way: round(statistics.median(one[way] for one in crowd), 2) for way in alone}
    bars = compare(alone) | {f"{name}_in_four": bar for name, bar in compare(together).items()}
    report("breaker", bars, microseconds=alone, microseconds_in_four=together)


def compare(cost: Figures) -> dict[str, Bar]:
    return {
        "vs_bare_get": Bar(cost["ours"] / cost["get"], most=1.3),
        "vs_pybreaker": Bar(cost["pybreaker"] / cost["ours"], least=1.5),
        "cached_vs_bare_get": Bar(cost["get"] / cost["ours_cached"], least=50),
        "fail_vs_pybreaker": Bar(cost["pybreaker_fails"] / cost["ours_fails"], least=1.1),
    }


def measure_one_of(_: int) -> Figures:
    return measure()


def measure() -> Figures:
    """Microseconds a call, each way."""
    # pybreaker logs what its storage does; nobody would pay for that in production.
    logging.getLogger("pybreaker").setLevel(logging.CRITICAL)
    name = f"bench-{os.getpid()}"
    client = redis.Redis.from_url(settings.REDIS_URL, retry=Retry(NoBackoff(), 0))
    client.set(name, "closed")
    every_call_asks = Policy(failure_threshold=THRESHOLD, cache_seconds=0)
    ours = make_ours(name, every_call_asks)
    theirs = pybreaker.CircuitBreaker(
        fail_max=THRESHOLD,
        state_storage=pybreaker.CircuitRedisStorage(pybreaker.STATE_CLOSED, client, namespace=name),
    )
    cached_ok = make_ours(name, Policy(failure_threshold=THRESHOLD))(do_nothing)
    ours_ok, theirs_ok = ours(do_nothing), theirs(do_nothing)
    ours_fails, theirs_fails = ours(fail), theirs(fail)
    ways: dict[str, Callable[[], float]] = {
        "get": lambda: time_calls(lambda: client.get(name)),
        "ours": lambda: time_calls(ours_ok),
        "ours_cached": lambda: time_calls(cached_ok),
        "pybreaker": lambda: time_calls(theirs_ok),
        "ours_fails": lambda: time_failures(ours_fails, ours_ok),
        "pybreaker_fails": lambda: time_failures(theirs_fails, theirs_ok),
    }
    rounds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, measure_round in ways.items():
            rounds[way].append(measure_round())
    return {way: round(statistics.median(times) * 1e6, 2) for way, times in rounds.items()}


def make_ours(name: str, policy: Policy) -> Breaker:
    contact = Contact(settings.REDIS_URL, budget_seconds=PATIENT_SECONDS)
    return Breaker(name, policy, contact, counts=lambda error: True)


def time_calls(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - began) / CALLS


def time_failures(failing: Callable[[], object], succeeding: Callable[[], object]) -> float:
    """Only the failures are timed; a success after each few keeps the breaker closed."""
    spent, count = 0.0, 0
    for _ in range(CALLS // (THRESHOLD - 1) // 2):
        began = time.perf_counter()
        for _ in range(THRESHOLD - 1):
            try:
                failing()
            except RuntimeError:
                count += 1
        spent += time.perf_counter() - began
        succeeding()
    return spent / count


def do_nothing() -> None:
    pass


def fail() -> None:
    raise RuntimeError("no")
