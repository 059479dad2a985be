"""What a verb would do, counted before anybody confirms it."""

from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count

from dashboard.words import counted
from dlq.items import count_by_run, without_active
from dlq.models.letter import LetterQuerySet
from dlq.offers import find_refusing, keep_supported
from dlq.selection import Selection, followers_of
from dlq.verbs import Verb

# Up to so many letters are handled in the request; more are a run.
MOST_AT_ONCE = 200


@dataclass(frozen=True)
class Preview:
    """The numbers of a confirmation; `count` are the letters themselves, followers come on top if wanted."""

    verb: Verb
    watermark: int
    count: int
    by_consumer: list[tuple[str, int]]
    # Parked behind the selected letters.
    follower_count: int
    # Already in an active run, and therefore left out; the runs' ids.
    in_run_count: int
    run_ids: list[int]
    # Left out because it could not be written back: source, number, why.
    refused: list[tuple[str, int, str]]

    @property
    def critical(self) -> list[tuple[str, int]]:
        """Letters of consumers that must not lose an event silently."""
        return [(name, number) for name, number in self.by_consumer if name in settings.CRITICAL_CONSUMERS]

    @property
    def needs_reason(self) -> bool:
        return self.verb.needs_reason or (self.verb.is_closing and bool(self.critical))

    def total(self, *, with_followers: bool) -> int:
        """What is confirmed."""
        return self.count + (self.follower_count if with_followers else 0)

    def is_run(self, *, with_followers: bool) -> bool:
        return self.total(with_followers=with_followers) > MOST_AT_ONCE

    @property
    def title(self) -> str:
        if not self.count:
            return f"Nothing to {self.verb.name}"
        what = "the payload of " if self.verb.name == "erase" else ""
        who = self.by_consumer[0][0] if len(self.by_consumer) == 1 else f"{len(self.by_consumer)} consumers"
        return f"{self.verb.name.capitalize()} {what}{counted(self.count, 'letter')} of {who}"


def preview(verb: Verb, selection: Selection) -> Preview:
    selected = verb.can_touch(selection.letters)
    letters = keep_supported(verb, selected)
    free = without_active(letters)
    by_consumer = list(
        free.order_by().values_list("consumer").annotate(number=Count("pk")).order_by("-number", "consumer")
    )
    runs = count_by_run(letters)
    followers = (
        without_active(keep_supported(verb, followers_of(selection))).count() if verb.is_closing else 0
    )
    return Preview(
        verb,
        selection.watermark,
        count=sum(number for _, number in by_consumer),
        by_consumer=by_consumer,
        follower_count=followers,
        in_run_count=sum(runs.values()),
        run_ids=list(runs),
        refused=list_refused(verb, selected),
    )


def list_refused(verb: Verb, selected: LetterQuerySet) -> list[tuple[str, int, str]]:
    refusing = find_refusing(verb)
    if not refusing:
        return []
    theirs = selected.filter(source__in=list(refusing)).order_by()
    counts = theirs.values_list("source").annotate(number=Count("pk")).order_by("source")
    return [(source, number, refusing[source]) for source, number in counts]
