"""What may be a little wrong for a while: cached prices, and what the search sorts by."""

import time

from django.conf import settings
from django.db.models import F

from demo import stories
from demo.clock import find_moved
from demo.consumers import ShopProjector
from demo.models import CachedPrice, Popularity
from projections.api import Criticality, Effects, PolicyTable, Skip, StoredEvent, handles, register

# For each event, while the search index is slow.
SLOW_SECONDS = 2.0


@register
class CatalogCache(ShopProjector):
    """Prices on product pages."""

    name = "catalog-cache"
    criticality = Criticality.BEST_EFFORT
    policy = PolicyTable(
        "cache", default=Skip("a price that is missing here is fetched when a page wants it")
    )

    @handles("ProductPriced")
    def price(self, event: StoredEvent) -> None:
        price = CachedPrice(sku=event.data["sku"], price=int(event.data["price"]))
        CachedPrice.objects.bulk_create(
            [price], update_conflicts=True, unique_fields=["sku"], update_fields=["price"]
        )

    def truncate(self) -> None:
        CachedPrice.objects.all().delete()


@register
class SearchIndex(ShopProjector):
    """How often products are looked at. One event a turn, so that a slow one holds up nobody for long."""

    name = "search-index"
    criticality = Criticality.BEST_EFFORT
    effects = Effects.EXTERNAL
    policy = PolicyTable("search", default=Skip("a view that is not counted changes no order of results"))

    @handles("ProductViewed")
    def view(self, event: StoredEvent) -> None:
        if stories.is_on(stories.SLOW) and not find_moved():
            time.sleep(SLOW_SECONDS / settings.DEMO_SPEED)
        if not Popularity.objects.filter(sku=event.data["sku"]).update(views=F("views") + 1):
            Popularity.objects.create(sku=event.data["sku"], views=1)

    def truncate(self) -> None:
        Popularity.objects.all().delete()
