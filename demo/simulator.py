"""The shop's life: what is due is appended, what comes next is planned, and stories are told."""

import heapq
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.db import Error, transaction

from demo import stories
from demo.models import Account, Shop, Story
from demo.pricing import get_shop
from demo.sales import Due, Sales
from demo.stories import ENDPOINT, LEDGER, PRODUCER, SALE, SELLERS
from projections.api import append
from projections.models import Event

# Seconds between two of each, on an ordinary day.
ORDER_EVERY, PRICE_EVERY, VIEW_EVERY = 15.0, 30.0, 1.5
# In a sale.
CROWD = 3
SEED = 1702


class Simulator:
    """Goes from one moment to the next; the caller says which, so the past is made by the same code."""

    def __init__(self, at: datetime, *, speed: int = 1) -> None:
        self.at = at
        self.speed = speed
        # After a start in the middle, other things happen than at the beginning.
        self.sales = Sales(SEED + get_shop().last_order, speed=speed)
        self.random = self.sales.random
        self.next_at = dict.fromkeys(("order", "price", "view"), at)
        self.waiting: list[Due] = []
        # A number is given once, also if its order could not be written at once.
        self.last_order = get_shop().last_order
        # What an outage came between: it may be in the store all the same.
        self.unsure: list[Due] = []
        # Then nothing new begins; what has begun goes on to its end.
        self.is_closed = False
        # When each story that is an event was last told.
        self.told: dict[str, datetime] = {}

    def go_on_from(self, at: datetime) -> None:
        """Leave out what would have come until then; what had begun is done at once."""
        self.at = at
        self.next_at = dict.fromkeys(self.next_at, at)

    def advance(
        self, to: datetime, *, is_past: bool = False, views: bool = True, slowdown: float = 1.0
    ) -> int:
        """Append everything up to a moment, in one transaction; returns how many events that were."""
        shop = get_shop()
        self.last_order = max(self.last_order, shop.last_order)
        if not self.is_closed:
            self.tell_stories(self.at, shop)
        self.plan(to, shop, views=views, slowdown=slowdown)
        self.settle_unsure()
        due: list[Due] = []
        while self.waiting and self.waiting[0].at <= to:
            due.append(heapq.heappop(self.waiting))
        try:
            self.write(due, to, is_past=is_past)
        except Error:
            self.unsure = due
            raise
        self.at = to
        return len(due)

    def write(self, due: list[Due], to: datetime, *, is_past: bool) -> None:
        with transaction.atomic():
            for _, events in groupby(due, key=lambda one: (one.stream, one.at)):
                together = list(events)
                given = [one.event for one in together]
                append(together[0].stream, given, recorded_at=together[0].at if is_past else None)
            Shop.objects.filter(pk=1).update(
                last_order=self.last_order, **({"past_at": to} if is_past else {})
            )

    def settle_unsure(self) -> None:
        """Without one of its events an order would be another story than the one that is told."""
        ids = [one.event.event_id for one in self.unsure]
        stored = set(Event.objects.filter(event_id__in=ids).values_list("event_id", flat=True)) if ids else ()
        for one in self.unsure:
            if one.event.event_id not in stored:
                self.add(one)
        self.unsure = []

    def plan(self, to: datetime, shop: Shop, *, views: bool, slowdown: float) -> None:
        if self.is_closed:
            self.next_at = dict.fromkeys(self.next_at, to)
            return
        crowd = (CROWD if SALE in stories.current() else 1) / slowdown
        while self.comes("order", to, ORDER_EVERY / crowd):
            self.place_order(shop, self.next_at["order"])
        while self.comes("price", to, PRICE_EVERY * slowdown):
            self.add(self.sales.price(self.next_at["price"], patch=shop.patch))
        while self.comes("view", to, VIEW_EVERY):
            if views:
                self.add(self.sales.view(self.next_at["view"], patch=shop.patch))

    def comes(self, what: str, to: datetime, every: float) -> bool:
        """Whether one more comes before a moment; then its time is in `next_at`."""
        after = timedelta(seconds=self.random.expovariate(1 / every) / self.speed)
        if self.next_at[what] + after > to:
            # What was not drawn is not owed: waiting has no memory.
            self.next_at[what] = to
            return False
        self.next_at[what] += after
        return True

    def place_order(self, shop: Shop, at: datetime, **wishes: Any) -> None:
        """`wishes` are those of Sales.order."""
        self.last_order += 1
        for due in self.sales.order(self.last_order, at, patch=shop.patch, **wishes):
            self.add(due)

    def add(self, due: Due) -> None:
        heapq.heappush(self.waiting, due)

    def tell_stories(self, to: datetime, shop: Shop) -> None:
        """Some stories have events of their own, once each time they begin."""
        tellers = {PRODUCER: self.send_malformed, LEDGER: self.overdraw, ENDPOINT: self.ship}
        for name, tell in tellers.items():
            story = stories.current().get(name)
            if story and story.began_at != self.told.get(name):
                self.told[name] = story.began_at
                tell(to, shop, story)

    def ship(self, at: datetime, shop: Shop, story: Story) -> None:
        """So that it is noticed soon: an order of this seller that leaves the house about now."""
        self.place_order(shop, at - timedelta(minutes=2) / self.speed, seller=story.subject)

    def send_malformed(self, at: datetime, shop: Shop, story: Story) -> None:
        self.place_order(shop, at, is_malformed=True)
        self.add(self.sales.price(at, patch=shop.patch, is_malformed=True))

    def overdraw(self, at: datetime, shop: Shop, story: Story) -> None:
        account = Account.objects.filter(held__gt=0).order_by("-position").first()
        if account:
            self.add(self.sales.bad_release(int(account.escrow.rpartition("-")[2]), at, patch=shop.patch))

    def choose_seller(self) -> str:
        return self.random.choice(SELLERS)
