"""Where a replay goes: what every target must offer, and the one error of this boundary."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

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


class Answer(Enum):
    """What a target that took a delivery says."""

    # The consumer has handled it.
    DONE = auto()
    # It is on its way; nobody knows yet what becomes of it.
    SENT = auto()


@dataclass(frozen=True)
class Health:
    """Whether a target could take something now, in a sentence for the preview."""

    is_well: bool
    sentence: str


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
