"""One call through a breaker, as a context manager, and what its end says about the dependency."""

from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING

from breakers.permits import BreakerOpen, Permit

if TYPE_CHECKING:
    from breakers.breaker import Breaker


class Call:
    """`timeout_seconds` is what the policy allows the call; hand it to the client that makes it."""

    __slots__ = ("_breaker", "_permit", "_started_at")

    def __init__(self, breaker: "Breaker") -> None:
        self._breaker = breaker

    @property
    def timeout_seconds(self) -> float | None:
        return self._breaker.policy.call_timeout_seconds

    def __enter__(self) -> "Call":
        self._permit = self._breaker.enter()
        self._started_at = monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._settle(error)
        elif delay := self._describe_delay():
            self._breaker.report_failure(self._permit, delay)
        else:
            self._breaker.report_success(self._permit)

    def _settle(self, error: BaseException) -> None:
        """An error that does not count is an answer all the same; an interruption is none."""
        if isinstance(error, BreakerOpen) or not isinstance(error, Exception):
            self._breaker.report_nothing(self._permit)
        elif self._breaker.is_failure(error):
            self._breaker.report_failure(self._permit, describe_error(error))
        else:
            self._breaker.report_success(self._permit)

    def _describe_delay(self) -> str:
        """Why a call that returned has failed all the same; empty if it was in time."""
        allowed = self.timeout_seconds
        took = monotonic() - self._started_at
        return f"The call took {took:.1f} s; it may take {allowed:g} s." if allowed and took > allowed else ""


class FreeCall(Call):
    """A call that need not ask, be timed or report its success: the same object serves until the cache ends."""

    __slots__ = ()

    def __init__(self, breaker: "Breaker", permit: Permit) -> None:
        super().__init__(breaker)
        self._permit = permit

    def __enter__(self) -> "FreeCall":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._settle(error)


def describe_error(error: Exception) -> str:
    """The error in one line that Redis and Postgres can hold, whatever its text is."""
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:
        text = f"{type(error).__name__}, which cannot say what it is"
    return text.encode(errors="replace").decode().replace("\0", "�")
