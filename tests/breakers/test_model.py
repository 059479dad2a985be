"""The Lua scripts against the plain Python of `LocalBreaker`, over random calls, late results and clock steps."""

import redis
from django.conf import settings as django_settings
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from breakers import keys, scripts
from breakers.local import LocalBreaker
from breakers.permits import Permit
from breakers.policy import Policy
from breakers.shared import SharedBreaker
from breakers.wire import Wire

POLICIES = st.builds(
    Policy,
    failure_threshold=st.integers(1, 4),
    window_seconds=st.sampled_from([0, 1]),
    open_seconds=st.just(1),
    half_open_probes=st.integers(1, 2),
    success_threshold=st.integers(1, 3),
    call_timeout_seconds=st.just(1),
)
NAME = "a {name} with: everything*?[x]"


class BreakerMachine(RuleBasedStateMachine):
    """Every step is done to both, and both must answer alike."""

    client: redis.Redis
    permits = Bundle("permits")

    @initialize(policy=POLICIES)
    def start(self, policy: Policy) -> None:
        self.client.flushdb()
        self.now = 1_700_000_000_000
        self.trip = 0
        self.shared = SharedBreaker(NAME, policy, Wire(self.client.connection_pool).execute)
        self.local = LocalBreaker(policy)
        self.policy = policy

    # To the ms: the window and the pause last 1,000, a probe's slot 6,000.
    @rule(step=st.sampled_from([1, 999, 1000, 6000]))
    def wait(self, step: int) -> None:
        self.now += step

    @rule(target=permits, by_gate=st.booleans())
    def enter(self, by_gate: bool) -> object:
        expected = self.local.enter(self.now)
        answer = self.shared.read_gate() if by_gate else self.shared.enter(self.now)
        if not isinstance(answer, Permit) and by_gate:
            answer = self.shared.enter(self.now)
        assert answer == expected
        return answer if isinstance(answer, Permit) else multiple()

    @rule(permit=consumes(permits))
    def fail(self, permit: Permit) -> None:
        self.local.fail(permit, self.now)
        self.shared.fail(permit, self.now, "Error: no")

    @rule(permit=consumes(permits))
    def succeed(self, permit: Permit) -> None:
        if permit.token or permit.has_failures:
            self.local.succeed(permit, self.now)
            self.shared.succeed(permit, self.now)

    @rule(permit=consumes(permits))
    def interrupt(self, permit: Permit) -> None:
        if permit.token:
            self.local.release(permit, self.now)
            self.shared.release(permit, self.now)

    @rule(seconds=st.sampled_from([None, 1]))
    def hold(self, seconds: int | None) -> None:
        self.trip += 1
        until = None if seconds is None else self.now + seconds * 1000
        self.local.hold(until, self.now)
        arguments = self.trip, "" if until is None else until
        scripts.hold(self.client.execute_command, NAME, self.now, *arguments)

    @rule()
    def reset(self) -> None:
        self.local.reset(self.now)
        scripts.reset(self.client.execute_command, NAME, self.now, "")

    @rule()
    def announce(self) -> None:
        self.shared.announce("a test", self.now)

    @invariant()
    def agree(self) -> None:
        found = self.client.hgetall(keys.breaker_key(NAME))
        word, generation = found.get(b"gate", b"closed 0").decode().split()
        state = "closed" if word == "failing" else word
        assert (state, int(generation)) == (self.local.state, self.local.generation)
        assert (word == "failing") == bool(self.local.failures)
        assert [int(at) for at in found.get(b"failures", b"").split(b",") if at] == self.local.failures
        assert int(found.get(b"successes", 0)) == self.local.successes
        is_indexed = self.client.zscore(keys.OPEN_INDEX, NAME) is not None
        assert is_indexed == (state != "closed")

    @invariant()
    def never_too_many_probes(self) -> None:
        live = [deadline for deadline in self.local.probes.values() if deadline > self.now]
        assert len(live) <= self.policy.half_open_probes

    @invariant()
    def only_what_is_held_without_an_end_never_expires(self) -> None:
        found = self.client.hgetall(keys.breaker_key(NAME))
        if found:
            is_held_forever = bool(found.get(b"held")) and not found.get(b"held_until")
            assert (self.client.pttl(keys.breaker_key(NAME)) == -1) == is_held_forever


def test_the_scripts_do_what_the_model_does():
    BreakerMachine.client = redis.Redis.from_url(django_settings.REDIS_URL)
    run_state_machine_as_test(
        BreakerMachine,
        settings=settings(
            max_examples=100, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
    BreakerMachine.client.close()
