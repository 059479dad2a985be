"""Many threads and processes at one half-open breaker."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from breakers.api import BreakerOpen, Policy
from breakers.breaker import Breaker
from breakers.contact import Contact
from tests.breakers.conftest import fail
from tests.breakers.valkey import PrivateValkey
from tests.wait import PATIENT, until

ROOT = Path(__file__).resolve().parents[2]
POLICY = Policy(failure_threshold=1, open_seconds=0.001, half_open_probes=3, cache_seconds=0)
# One of the crowd: begins with the others, tries for a while, and notes how many probes it saw at once.
CROWD = """
import sys, time
from tests.breakers.test_crowds import make_patient, try_probes
print(try_probes(make_patient(sys.argv[1]), float(sys.argv[2])))
"""
# Goes into a probe and never comes back.
VICTIM = """
import sys, time
from tests.breakers.test_crowds import make_patient
with make_patient(sys.argv[1]).call():
    print("in", flush=True)
    time.sleep(600)
"""


def make_patient(url: str, policy: Policy = POLICY, **options) -> Breaker:
    return Breaker("api", policy, Contact(url, budget_seconds=PATIENT), counts=lambda error: True, **options)


class Interrupted(BaseException):
    """Ends a probe without a verdict, so that the breaker stays half open however many there are."""


def try_probes(breaker: Breaker, seconds: float) -> int:
    """The most probes that were under way at once, counted in Redis while this one is."""
    client = breaker._contact.redis
    most = 0
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        try:
            with breaker.call():
                most = max(most, client.incr("under way"))
                client.decr("under way")
                raise Interrupted
        except (BreakerOpen, Interrupted):
            pass
    return most


def run(code: str, *arguments: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


@pytest.fixture
def half_open(valkey: PrivateValkey) -> PrivateValkey:
    fail(make_patient(valkey.url))
    time.sleep(0.01)
    return valkey


def test_fifty_threads_never_hold_more_probes_than_there_are_slots(half_open: PrivateValkey):
    breaker = make_patient(half_open.url)
    with ThreadPoolExecutor(50) as pool:
        most = max(pool.map(lambda _: try_probes(breaker, 2), range(50)))
    assert 1 <= most <= POLICY.half_open_probes


def test_four_processes_never_hold_more_probes_than_there_are_slots(half_open: PrivateValkey):
    crowd = [run(CROWD, half_open.url, "3") for _ in range(4)]
    most = max(int(process.communicate()[0]) for process in crowd)
    assert 1 <= most <= POLICY.half_open_probes


def test_one_probe_is_given_to_one_of_fifty_who_ask_at_once(valkey: PrivateValkey):
    policy = Policy(failure_threshold=1, open_seconds=0.001, cache_seconds=0)
    fail(make_patient(valkey.url, policy))
    time.sleep(0.01)
    breaker = make_patient(valkey.url, policy)
    start, finish = threading.Barrier(50), threading.Barrier(50)

    def ask(_: int) -> str:
        start.wait()
        try:
            with breaker.call():
                finish.wait()
                return "probe"
        except BreakerOpen:
            finish.wait()
            return "refused"

    with ThreadPoolExecutor(50) as pool:
        assert Counter(pool.map(ask, range(50))) == {"probe": 1, "refused": 49}


def test_a_process_killed_in_its_probe_frees_the_slot(valkey: PrivateValkey):
    start = time.time()
    policy = Policy(failure_threshold=1, open_seconds=0.001, call_timeout_seconds=1, cache_seconds=0)
    fail(make_patient(valkey.url, policy))
    time.sleep(0.01)
    victim = run(VICTIM, valkey.url)
    assert victim.stdout is not None
    assert victim.stdout.readline() == "in\n"
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    victim.stdout.close()
    with pytest.raises(BreakerOpen), make_patient(valkey.url, policy).call():
        pass
    # The victim's policy allows a probe 65 s; a clock that is ahead need not wait for them.
    later = make_patient(valkey.url, policy, clock=lambda: start + 100)
    assert until(lambda: later.enter())


def test_fifty_threads_that_fail_open_it_once(valkey: PrivateValkey):
    policy = Policy(failure_threshold=20, cache_seconds=0)
    breaker = make_patient(valkey.url, policy)

    def work(_: int) -> None:
        for _ in range(20):
            try:
                with breaker.call():
                    raise ConnectionError
            except (ConnectionError, BreakerOpen):
                pass

    with ThreadPoolExecutor(50) as pool:
        list(pool.map(work, range(50)))
    transitions = valkey.client().xrange("{redrive:breakers}:transitions")
    assert [fields[b"to"] for _, fields in transitions] == [b"open"]
