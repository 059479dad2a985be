"""Where a replay goes: what every target must offer, and the one error of this boundary."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from math import inf
from typing import Protocol, runtime_checkable

from dlq.models.words import Category


@dataclass(frozen=True)
class Delivery:
    """A letter on its way: the event as it came, or as somebody replaced it."""

    letter_id: int
    source: str
    consumer: str
    event_id: str
    event_type: str
    sequence_key: str
    # Whether somebody replaced the event.
    is_replaced: bool
    # The bytes as they came where there are any, else the payload as JSON.
    body: bytes
    headers: Mapping[str, str]
    # The same for every try within a run, so that a receiver can tell a repetition.
    idempotency_key: str
    # What a run calls it, by which it can be confirmed later.
    item_id: int
    # By this process's monotonic clock: from then on somebody else may send it.
    send_before: float = inf

    def check_time(self) -> None:
        """To be asked as late as can be, when all is ready to be sent."""
        if time.monotonic() >= self.send_before:
            raise TooLateError


class TooLateError(Exception):
    """The time in which it could be sent is over; nothing was sent."""


class Answer(Enum):
    """What a target that took a delivery says."""

    # The consumer has handled it.
    DONE = auto()
    # It is on its way; nobody knows yet what becomes of it.
    SENT = auto()
    # It was tried and failed, and the failure is on record already.
    FAILED = auto()


@dataclass(frozen=True)
class Refusal:
    """What a consumer said that took a delivery and failed with it later."""

    error_type: str
    error_message: str
    stacktrace: str = ""


@dataclass(frozen=True)
class Health:
    """Whether a target could take something now, in a sentence for the preview."""

    is_well: bool
    sentence: str
    # No replay to it can be started now.
    refuses: bool = False


class TargetError(Exception):
    """A target did not take a delivery; `permanent` says that trying again cannot help."""

    def __init__(self, message: str, *, permanent: bool, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.permanent = permanent
        # Seconds, if the target said when to come back: then it has not refused the event, but asked for patience.
        self.retry_after = retry_after

    @property
    def category(self) -> str:
        return Category.PERMANENT.value if self.permanent else Category.TRANSIENT.value


class Target(Protocol):
    """Takes deliveries one at a time; `deliver` returns, or raises TargetError or BreakerOpen, in bounded time."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def dedup_seconds(self) -> int:
        """Events sent again within this time would be dropped by the receiver, and wrongly taken for done."""

    @property
    def timeout_seconds(self) -> float:
        """`deliver` is over by then."""

    def deliver(self, delivery: Delivery) -> Answer: ...

    def get_health(self) -> Health: ...


@runtime_checkable
class ConfirmingTarget(Target, Protocol):
    """One that may tell later what became of what it took."""

    @property
    def confirmed_within(self) -> float | None:
        """After so many seconds nobody will say any more; None: nobody ever does."""

    def ask(self, item_ids: Sequence[int]) -> dict[int, Answer | Refusal]:
        """What became of these; one that is not in it is not known yet."""


def get_confirmation_time(target: object) -> float | None:
    """How long what a target took may wait to be confirmed; None: nobody confirms it."""
    return target.confirmed_within if isinstance(target, ConfirmingTarget) else None
