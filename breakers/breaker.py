"""A circuit breaker that all processes share through Redis, and that no call ever has to wait for.

States and generations
    A breaker is closed, open or half_open. Every change of state begins a new generation. A call carries the
    generation in which it was let through, and its result counts in no other: a slow call of an hour ago can neither
    open a breaker that has recovered nor close one that has just opened.

A call
    1.  It reads the breaker's gate, one field of one hash. "closed" lets it through: one round trip. "failing" does
        too, and says that a success has consecutive failures to clear. Anything else goes on with 2. A process that
        read "closed" less than `cache_seconds` ago does not even ask.
    2.  `enter.lua` decides: an open breaker refuses until its time is over, then becomes half_open. Half open, it
        hands out at most `half_open_probes` tokens. A token has a deadline, so that a process that died in its probe
        does not keep the slot.
    3.  The call is made. If it raises an exception that counts, or took longer than the call timeout, it has failed.
        An exception that does not count is an answer all the same, and so a success. A call that was interrupted
        (KeyboardInterrupt, a timeout of the worker) or refused by another breaker says nothing.
    4.  A failure is reported by `fail.lua`: a closed breaker opens when `failure_threshold` failures are consecutive
        or, with a window, fell within it; a half-open one opens at the first. A success is reported only if it
        matters: it was a probe (`success_threshold` of them close the breaker), or it clears failures that the call
        saw when it began. With a window there is nothing to clear: failures age.

By hand
    `hold.lua` opens a breaker and keeps it open, for ever or until a time, after which it is half-opened like any
    other. `reset.lua` closes it.

Without Redis
    When Redis does not answer within the budget (`contact.py`), the call goes by this process's own breaker, which
    knows what Redis last said: a refusal is kept up for as long as Redis meant it. Nobody asks Redis for a second;
    then one call tries. What was counted locally is not carried over: Redis's word is taken up again.

Time is the Redis server's, so processes with wrong clocks agree; a `clock` may be given for tests and demonstrations.
"""

import time
from collections.abc import Callable
from functools import wraps
from time import monotonic
from typing import Any, ParamSpec, TypeVar

from redis import RedisError

from breakers.call import Call, FreeCall
from breakers.contact import Contact
from breakers.counting import Counts
from breakers.keys import check_name
from breakers.local import LocalBreaker
from breakers.permits import BreakerOpen, Permit, Refusal
from breakers.policy import Policy
from breakers.shared import SharedBreaker

P = ParamSpec("P")
T = TypeVar("T")

# A breaker in use says so this often; one that does not for a week is forgotten.
ANNOUNCE_EVERY_SECONDS = 3600


class Breaker:
    """One named breaker; safe to share between threads."""

    def __init__(
        self,
        name: str,
        policy: Policy,
        contact: Contact,
        *,
        counts: Counts,
        used_by: str = "",
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.name = check_name(name)
        self.policy = policy
        self.is_failure = counts
        self._used_by = used_by
        self._clock = clock
        self._contact = contact
        self._shared = SharedBreaker(name, policy, contact.execute)
        self._local = LocalBreaker(policy)
        self._seemed_closed = True
        # A permit to go through without asking, and until when it may be believed.
        self._cached = Permit(0)
        self._cached_until = 0.0
        # The call with that permit, if calls are not timed; None: a call of its own for each.
        self._free_call: FreeCall | None = None
        self._announce_at = 0.0

    def call(self) -> Call:
        """`with breaker.call(): ...`; raises BreakerOpen instead of entering the block."""
        if self._free_call and monotonic() < self._cached_until:
            return self._free_call
        return Call(self)

    def __call__(self, function: Callable[P, T]) -> Callable[P, T]:
        """Decorate a function: every call of it goes through the breaker."""

        @wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
            with self.call():
                return function(*args, **kwargs)

        return guarded

    def enter(self) -> Permit:
        """Ask for a permit to make a call; raises BreakerOpen if there is none."""
        if monotonic() < self._cached_until:
            return self._cached
        answer: Permit | Refusal | None = None
        if not self._contact.is_away():
            try:
                self._contact.begin()
                answer = self._ask()
                self._contact.note_answer()
            except RedisError as error:
                self._contact.note_failure(error)
        if answer is None:
            answer = self._ask_locally()
        if isinstance(answer, Refusal):
            raise BreakerOpen(self.name, None if answer.retry_ms is None else answer.retry_ms / 1000)
        return answer

    def _ask_locally(self) -> Permit | Refusal:
        answer = self._local.enter(self._local_now())
        return answer._replace(is_local=True) if isinstance(answer, Permit) else answer

    def _ask(self) -> Permit | Refusal:
        gate = self._read_gate()
        # Noted at once: on a slow line this call may have no time left to be refused, and the next one has.
        self._seemed_closed = isinstance(gate, Permit)
        answer = gate if isinstance(gate, Permit) else self._shared.enter(self._now())
        if isinstance(answer, Refusal):
            self._seemed_closed = False
            now = self._local_now()
            self._local.hold(None if answer.retry_ms is None else now + answer.retry_ms, now)
            return answer
        self._seemed_closed = not answer.token
        if self._seemed_closed:
            self._local.reset(self._local_now())
            if self.policy.cache_seconds and not answer.has_failures:
                self._cached = answer
                self._free_call = None if self.policy.call_timeout_seconds else FreeCall(self, answer)
                self._cached_until = monotonic() + self.policy.cache_seconds
        return answer

    def _read_gate(self) -> Permit | str:
        """The permit of a closed breaker, or its state."""
        if monotonic() < self._announce_at:
            gate = self._shared.read_gate() if self._seemed_closed else "open"
            if gate != "":
                return gate
            # If there is no time for it now, the next call begins with it.
            self._announce_at = 0.0
        gate = self._shared.announce(self._used_by, self._now())
        self._announce_at = monotonic() + ANNOUNCE_EVERY_SECONDS
        return gate

    def report_failure(self, permit: Permit, error: str) -> None:
        self._cached_until = 0.0
        if not permit.is_local:
            if self._tell(lambda: self._shared.fail(permit, self._now(), error)):
                return
            # Redis went away during the call; its failure is the first that the local breaker counts.
            answer = self._ask_locally()
            if isinstance(answer, Refusal):
                return
            permit = answer
        self._local.fail(permit, self._local_now())

    def report_success(self, permit: Permit) -> None:
        if permit.is_local:
            self._local.succeed(permit, self._local_now())
        elif permit.token or permit.has_failures:
            self._tell(lambda: self._shared.succeed(permit, self._now()))

    def report_nothing(self, permit: Permit) -> None:
        if permit.is_local:
            self._local.release(permit, self._local_now())
        elif permit.token:
            self._tell(lambda: self._shared.release(permit, self._now()))

    def _tell(self, report: Callable[[], Any]) -> bool:
        """Report to Redis; False if it is away. A lost report costs one count: a probe's slot frees itself."""
        if self._contact.is_away():
            return False
        try:
            self._contact.begin()
            report()
            self._contact.note_answer()
        except RedisError as error:
            self._contact.note_failure(error)
            # One that answers and does not write (a full disk, a replica) would say "closed" for ever: it has to write
            # before it is believed again.
            self._announce_at = 0.0
            return False
        return True

    def _now(self) -> int | None:
        """Ms for Redis; None: its own clock."""
        return int(self._clock() * 1000) if self._clock else None

    def _local_now(self) -> int:
        return int((self._clock or time.time)() * 1000)
