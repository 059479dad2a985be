"""The breaker's algorithm in memory: calls go by it while Redis is away, and tests compare the Lua scripts with it."""

import threading

from breakers.permits import Permit, Refusal
from breakers.policy import Policy

# As in enter.lua: a probe usually ends long before its deadline.
ASK_AGAIN_MS = 1000
# How long a probe may run that has no call timeout, and what it may take longer than one that has.
PROBE_SECONDS = 60
PROBE_GRACE_SECONDS = 5


def get_probe_ms(policy: Policy) -> int:
    """How long a probe may keep its slot."""
    return int(((policy.call_timeout_seconds or PROBE_SECONDS) + PROBE_GRACE_SECONDS) * 1000)


class LocalBreaker:
    """One breaker in one process; every time is given, in ms."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.state = "closed"
        self.generation = 0
        self.failures: list[int] = []
        self.successes = 0
        self.probes: dict[int, int] = {}
        self.last_token = 0
        # When an open breaker lets a probe through; None: not before it is reset.
        self.until: int | None = None
        self._lock = threading.Lock()

    def enter(self, now: int) -> Permit | Refusal:
        with self._lock:
            if self.state == "closed":
                return Permit(self.generation, 0, bool(self.failures) and not self.policy.window_seconds)
            if self.state == "open":
                if self.until is None:
                    return Refusal(None)
                if now < self.until:
                    return Refusal(self.until - now)
                self._move("half_open", now)
            self.probes = {token: deadline for token, deadline in self.probes.items() if deadline > now}
            if len(self.probes) >= self.policy.half_open_probes:
                return Refusal(ASK_AGAIN_MS)
            self.last_token += 1
            self.probes[self.last_token] = now + get_probe_ms(self.policy)
            return Permit(self.generation, self.last_token)

    def fail(self, permit: Permit, now: int) -> None:
        with self._lock:
            if permit.generation != self.generation:
                return
            if self.state == "closed":
                window = self.policy.window_seconds * 1000
                self.failures = [at for at in self.failures if not window or at > now - window] + [now]
                is_too_many = len(self.failures) >= self.policy.failure_threshold
            else:
                is_too_many = self._end_probe(permit, now)
            if is_too_many:
                self.until = now + int(self.policy.open_seconds * 1000)
                self._move("open", now)

    def succeed(self, permit: Permit, now: int) -> None:
        with self._lock:
            if permit.generation != self.generation:
                return
            if self.state == "closed":
                self.failures = []
            elif self._end_probe(permit, now):
                self.successes += 1
                if self.successes >= self.policy.success_threshold:
                    self._move("closed", now)

    def release(self, permit: Permit, now: int) -> None:
        with self._lock:
            if permit.generation == self.generation:
                self._end_probe(permit, now)

    def hold(self, until: int | None, now: int) -> None:
        with self._lock:
            self.until = until
            self._move("open", now)

    def reset(self, now: int) -> None:
        with self._lock:
            if self.state != "closed" or self.failures:
                self._move("closed", now)

    def _end_probe(self, permit: Permit, now: int) -> bool:
        return self.probes.pop(permit.token, 0) > now

    def _move(self, state: str, now: int) -> None:
        self.generation = max(self.generation + 1, now)
        self.state, self.failures, self.successes, self.probes = state, [], 0, {}
