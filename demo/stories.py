"""The stories: what can go wrong in the shop, whether it does now, and how it begins and ends."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboard.memo import Memo
from demo.models import Story

SELLERS = ("acorn", "birch", "cedar", "dogwood", "elm")


@dataclass(frozen=True)
class Plot:
    """A story as it is written: how long it lasts, and how often it is told by itself."""

    name: str
    title: str
    # What happens, and what to do about it.
    text: str
    # The button that begins it by hand.
    button: str
    lasts: timedelta
    every: timedelta
    # Also in a fast shop: a breaker's pause takes as long as it takes.
    is_real_time: bool = False

    def scale(self, speed: int) -> int:
        return 1 if self.is_real_time else speed


ENDPOINT, PRODUCER, SLOW, LEDGER, SALE = "endpoint", "producer", "slow", "ledger", "sale"

PLOTS = {
    plot.name: plot
    for plot in (
        Plot(
            ENDPOINT,
            "A seller's endpoint dies for five minutes",
            "It answers 503. After five failures its breaker opens, and events for it wait in order; "
            "the other sellers get theirs. When it is back a probe closes the breaker and all that waited goes out.",
            "Kill an endpoint",
            timedelta(minutes=5),
            timedelta(minutes=11),
            is_real_time=True,
        ),
        Plot(
            PRODUCER,
            "An old till sends malformed orders",
            "Its totals are text such as 129,90. order-summary makes letters of them and parks what follows; "
            "catalog-cache skips, and says why.",
            "Send a malformed order",
            timedelta(seconds=30),
            timedelta(minutes=13),
        ),
        Plot(
            SLOW,
            "The search index is slow for six minutes",
            "It takes two seconds an event, falls behind, and catches up by itself: nothing for you to do.",
            "Slow the search index",
            timedelta(minutes=6),
            timedelta(minutes=31),
        ),
        Plot(
            LEDGER,
            "The ledger stops on one bad event",
            "More is to be paid out of an escrow than it holds. A ledger may not skip: it stops before the event until "
            "somebody makes it a dead letter, or puts it right.",
            "Stop the ledger",
            timedelta(seconds=1),
            timedelta(minutes=67),
        ),
        Plot(
            SALE,
            "A sale",
            "Three times as many orders for two minutes. Everything should keep up.",
            "Begin a sale",
            timedelta(minutes=2),
            timedelta(minutes=23),
        ),
    )
}


def begin(name: str, at: datetime, *, subject: str = "", speed: int = 1) -> Story:
    """Begin it now, or begin it anew."""
    plot = PLOTS[name]
    story, _ = Story.objects.update_or_create(
        name=name,
        defaults={
            "began_at": at,
            "ends_at": at + plot.lasts / plot.scale(speed),
            "subject": subject,
            "is_on": True,
        },
    )
    current.forget()
    return story


def end_over(at: datetime) -> None:
    """Those whose time is over end."""
    if Story.objects.filter(is_on=True, ends_at__lte=at).update(is_on=False):
        current.forget()


def list_on() -> dict[str, Story]:
    return {story.name: story for story in Story.objects.filter(is_on=True)}


# Handlers ask for each event.
current = Memo(list_on, seconds=0.25)


def is_on(name: str) -> bool:
    return name in current()
