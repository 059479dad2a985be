"""A breaker in Redis, shared by all processes: the same verbs as `LocalBreaker`, each one round trip."""

from breakers import scripts
from breakers.keys import breaker_key
from breakers.local import get_probe_ms
from breakers.permits import Permit, Refusal
from breakers.policy import Policy

# An error is kept to be read in a list; its whole text belongs in a log.
LONGEST_ERROR = 300


class SharedBreaker:
    """`now` is in ms; None means the server's clock. Every method may raise RedisError."""

    def __init__(self, name: str, policy: Policy, execute: scripts.Execute) -> None:
        self.policy = policy
        self._execute = execute
        self._key = breaker_key(name).encode()
        self._is_consecutive = not policy.window_seconds
        # Written once as they are sent, since they are sent with every call that matters.
        self._subject = scripts.Subject(name)
        self._probing = as_bytes(policy.half_open_probes, get_probe_ms(policy))
        self._counting = as_bytes(
            policy.failure_threshold, policy.window_seconds * 1000, policy.open_seconds * 1000
        )

    def read_gate(self) -> Permit | str:
        """The permit of a closed breaker by a plain read, or why there is none: its state, or "" if it is unknown."""
        value = self._execute("HGET", self._key, b"gate")
        return "" if value is None else self._parse(value)

    def _parse(self, value: bytes) -> Permit | str:
        word, _, generation = value.partition(b" ")
        if word == b"closed":
            return Permit(int(generation))
        if word == b"failing":
            return Permit(int(generation), 0, self._is_consecutive)
        return str(word, "ascii")

    def enter(self, now: int | None) -> Permit | Refusal:
        answer = scripts.enter(self._execute, self._subject, now, *self._probing)
        if answer[0] == b"refused":
            return Refusal(None if answer[1] < 0 else answer[1])
        if answer[0] == b"probe":
            return Permit(answer[1], answer[2])
        return Permit(answer[1], 0, self._is_consecutive and bool(answer[2]))

    def fail(self, permit: Permit, now: int | None, error: str = "") -> None:
        scripts.fail(
            self._execute,
            self._subject,
            now,
            permit.generation,
            permit.token,
            *self._counting,
            error[:LONGEST_ERROR],
        )

    def succeed(self, permit: Permit, now: int | None) -> None:
        arguments = permit.generation, permit.token, self.policy.success_threshold
        scripts.succeed(self._execute, self._subject, now, *arguments)

    def release(self, permit: Permit, now: int | None) -> None:
        scripts.release(self._execute, self._subject, now, permit.generation, permit.token)

    def announce(self, used_by: str, now: int | None) -> Permit | str:
        """Say that it is in use; the gate, as `read_gate` has it."""
        return self._parse(scripts.announce(self._execute, self._subject, now, self.policy.as_json, used_by))


def as_bytes(*numbers: float) -> tuple[bytes, ...]:
    return tuple(str(int(number)).encode() for number in numbers)
