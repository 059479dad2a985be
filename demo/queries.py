"""What the shop's page says."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from dashboard.banners import Banner
from demo.models import Shop, Story
from demo.pricing import newest_currency
from demo.pruning import is_full
from demo.stories import ENDPOINT, LEDGER, PLOTS, PRODUCER, SLOW, Plot
from demo.visit import find_group
from projections.models import NATIVE, Projection

# Where the effects of a story are seen: a projection, or the breakers.
SHOWN_IN = {PRODUCER: "order-summary", SLOW: "search-index", LEDGER: "ledger"}
CONSUMERS = {
    "ledger": "What each escrow holds. It stops rather than be wrong.",
    "order-summary": "What customer service sees. A failure is a letter, and what follows it is parked.",
    "catalog-cache": "Prices on product pages. It skips what it cannot read, with the reason.",
    "notifications": "Mails. A failure is tried again after half a second, one and two; then it is a letter.",
    "webhooks": "Sellers' endpoints, each behind a breaker.",
    "review-moderation": "Asks a model about reviews. A rare one is poison.",
    "search-index": "What the search sorts by. It is slow at times, and catches up.",
}


@dataclass(frozen=True)
class StoryRow:
    """A story with its state, and where to look at it."""

    plot: Plot
    story: Story | None
    is_on: bool
    url: str
    link: str


@dataclass(frozen=True)
class Board:
    shop: Shop
    currency: str
    group_url: str
    stories: list[StoryRow]
    consumers: list[tuple[str, str, str]]
    # It takes no orders until it can forget again.
    is_closed: bool
    # How far the past has been made; None: it is there.
    past_at: datetime | None


def get_board() -> Board:
    shop = Shop.objects.get_or_create(pk=1)[0]
    told = {story.name: story for story in Story.objects.all()}
    rows = {row.name: row for row in Projection.objects.filter(source=NATIVE).only("pk", "name", "state")}
    urls = {name: reverse("projections:projection", args=[row.pk]) for name, row in rows.items()}
    stopped = "ledger" in rows and rows["ledger"].state == Projection.State.STOPPED
    group = find_group()
    return Board(
        shop,
        newest_currency(shop.patch),
        reverse("dlq:group", args=[group.pk]) if group else "",
        [make_row(plot, told.get(plot.name), urls, is_stopped=stopped) for plot in PLOTS.values()],
        [(name, text, urls.get(name, "")) for name, text in CONSUMERS.items()],
        is_full(),
        None if shop.is_past_made else shop.past_at or shop.past_from,
    )


def say_past() -> Iterator[Banner]:
    """On every page of the first seconds, in which pauses and figures are not what they seem."""
    if Shop.objects.filter(is_past_made=False).exists():
        yield Banner(
            "The shop is living through its first hours, which takes some seconds: until then its projections "
            "are paused, and figures are of a time that is over."
        )


def make_row(plot: Plot, story: Story | None, urls: dict[str, str], *, is_stopped: bool) -> StoryRow:
    # The ledger's story is one event; it lasts as long as nobody has decided about it.
    is_on = is_stopped if plot.name == LEDGER else bool(story and story.is_on)
    if plot.name == ENDPOINT:
        return StoryRow(plot, story, is_on, reverse("breakers:breakers"), "See the breakers")
    consumer = SHOWN_IN.get(plot.name, "")
    return StoryRow(plot, story, is_on, urls.get(consumer, ""), f"See {consumer}")
