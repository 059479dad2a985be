"""The target that asks the owner: the foreign row gets its word for "try again", and its owner picks it up."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from dlq.models import LetterRunItem
from dlq.targets.base import Answer, Delivery, Health, Refusal, TargetError
from sources.api import SourceError, ask_to_retry, find_retried, why_no_retry


@dataclass(frozen=True)
class SourceTarget:
    """What becomes of it the source says itself, later; until then it is sent, and nothing more."""

    source: str
    kind: str = "source"
    # The row's own status says whether it was asked already.
    dedup_seconds: int = 0
    # Its owner has its own time; what it does later is seen all the same, by the sync.
    confirmed_within: float = 3600.0

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
        delivery.check_time()
        try:
            ask_to_retry(delivery.source, delivery.letter_id)
        except SourceError as error:
            raise TargetError(f"{self.source} was not asked: {error}", permanent=error.permanent) from error
        return Answer.SENT

    def ask(self, item_ids: Sequence[int]) -> dict[int, Answer | Refusal]:
        """As the last look at the source found their rows; nothing about those that it still has in hand."""
        items = dict(LetterRunItem.objects.filter(pk__in=item_ids).values_list("letter_id", "pk"))
        done, failed = find_retried(self.source, list(items))
        heard: dict[int, Answer | Refusal] = {items[letter]: Answer.DONE for letter in done}
        return heard | {items[letter]: Answer.FAILED for letter in failed}

    def get_health(self) -> Health:
        why_not = why_no_retry(self.source)
        if why_not:
            then = "Its letters would fail at once."
            return Health(False, f"{self.source} cannot be asked to try again. {why_not} {then}")
        return Health(
            True,
            f"{self.source} is asked to try again and does so in its own time: the letters stay open as sent "
            f"until it says what became of them, for at most {self.confirmed_within / 60:g} min.",
        )
