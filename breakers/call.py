"""One call through a breaker, as a context manager, and what its end says about the dependency."""

import time
import traceback
from types import TracebackType
from typing import TYPE_CHECKING

from breakers.permits import BreakerOpen

if TYPE_CHECKING:
    from breakers.breaker import Breaker


class Call:
    """`timeout_seconds` is what the policy allows the call; hand it to the client that makes it."""

    __slots__ = ("_breaker", "_is_shared", "_permit", "_started_at", "timeout_seconds")

    def __init__(self, breaker: "Breaker") -> None:
        self._breaker = breaker
        self.timeout_seconds = breaker.policy.call_timeout_seconds

    def __enter__(self) -> "Call":
        self._permit, self._is_shared = self._breaker.enter()
        self._started_at = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        breaker, permit, is_shared = self._breaker, self._permit, self._is_shared
        if error is None:
            failure = self._describe_delay()
        elif isinstance(error, Exception) and not isinstance(error, BreakerOpen):
            failure = describe_error(error) if breaker.is_failure(error) else ""
        else:
            breaker.report_nothing(permit, is_shared)
            return
        if failure:
            breaker.report_failure(permit, is_shared, failure)
        else:
            breaker.report_success(permit, is_shared)

    def _describe_delay(self) -> str:
        """Why a call that returned has failed all the same; empty if it was in time."""
        took = time.monotonic() - self._started_at
        allowed = self.timeout_seconds
        return f"The call took {took:.1f} s; it may take {allowed:g} s." if allowed and took > allowed else ""


def describe_error(error: Exception) -> str:
    """The error in one line that Redis and Postgres can hold, whatever its text is."""
    # This form of it survives an exception whose own __str__ raises.
    text = "".join(traceback.format_exception_only(error)).strip()
    return text.encode(errors="replace").decode().replace("\0", "�")
