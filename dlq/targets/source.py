"""The target that asks the owner: the foreign row gets its word for "try again", and its owner picks it up."""

from dataclasses import dataclass

from django.conf import settings

from dlq.targets.base import Answer, Delivery, Health, TargetError
from sources.api import SourceError, ask_to_retry, why_no_retry


@dataclass(frozen=True)
class SourceTarget:
    """What becomes of it the source says itself, later; until then it is sent, and nothing more."""

    source: str
    kind: str = "source"
    # The row's own status says whether it was asked already.
    dedup_seconds: int = 0

    @property
    def name(self) -> str:
        return f"{self.source} itself"

    @property
    def timeout_seconds(self) -> float:
        return settings.RUN_LEASE_SECONDS / 2

    def deliver(self, delivery: Delivery) -> Answer:
        if delivery.is_replaced:
            raise TargetError(
                f"Its payload was replaced here, and {self.source} would try the original.", permanent=True
            )
        try:
            ask_to_retry(delivery.source, delivery.letter_id)
        except SourceError as error:
            raise TargetError(f"{self.source} was not asked: {error}", permanent=error.permanent) from error
        return Answer.SENT

    def get_health(self) -> Health:
        why_not = why_no_retry(self.source)
        if why_not:
            return Health(False, f"{self.source} cannot be asked to try again: {why_not}")
        return Health(
            True,
            f"{self.source} is asked to try again and does so in its own time: the letters stay open as sent "
            "until it says what became of them.",
        )
