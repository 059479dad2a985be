"""What happens in the shop: orders from placing to paying out, prices and views of products."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from demo.pricing import newest_currency
from demo.stories import SELLERS
from projections.api import NewEvent

PRODUCTS = (
    "lamp",
    "kettle",
    "chair",
    "desk",
    "clock",
    "mug",
    "rug",
    "vase",
    "shelf",
    "stool",
    "bowl",
    "frame",
)
CUSTOMERS = ("ines", "jonas", "kaya", "liam", "mara", "nils", "olga", "paul", "rosa", "sami", "tess", "yusuf")
PRICES = {sku: 1290 + 730 * number for number, sku in enumerate(PRODUCTS)}
# Of the orders, while a release with a bug is out.
NEW_CURRENCY_SHARE = 0.3
REVIEW_SHARE, CANCEL_SHARE, PIGEON_SHARE, POISON_SHARE = 0.45, 0.06, 0.012, 0.012
# More than Python's limit, and so more than the moderation's reader of quotes bears.
NESTED = 4000


@dataclass(frozen=True, order=True)
class Due:
    """An event that is to be appended at a time."""

    at: datetime
    # Ties are broken by the order in which things were planned.
    number: int
    stream: str
    event: NewEvent


class Sales:
    """Plans what happens; the same seed plans the same."""

    def __init__(self, seed: int, *, speed: int = 1) -> None:
        self.random = random.Random(seed)
        self.speed = speed
        self._count = 0

    def order(
        self,
        number: int,
        at: datetime,
        *,
        patch: int,
        is_malformed: bool = False,
        currency: str = "",
        seller: str = "",
    ) -> Iterator[Due]:
        """An order's whole life; a currency and a seller may be asked for."""
        chance = self.random
        order, escrow = f"order-{number}", f"escrow-{number}"
        seller = seller or chance.choice(SELLERS)
        customer = chance.choice(CUSTOMERS)
        lines = [
            {"sku": sku, "quantity": chance.randint(1, 3), "price": PRICES[sku]}
            for sku in chance.sample(PRODUCTS, chance.randint(1, 3))
        ]
        total = sum(line["quantity"] * line["price"] for line in lines)  # type: ignore[operator]
        about = {"order": order, "seller": seller}
        money = {"amount": total, "currency": currency or self.choose_currency(patch), "escrow": escrow}
        metadata = self.describe(patch, tenant=seller)

        def due(after: float, event_type: str, **data: Any) -> Due:
            return self.due(
                at + timedelta(seconds=after / self.speed), order, event_type, about | data, metadata
            )

        yield due(
            0,
            "OrderPlaced",
            customer={"name": customer, "email": f"{customer}@example.org"},
            lines=lines,
            currency=money["currency"],
            total=f"{total // 100},{total % 100:02}" if is_malformed else total,
        )
        yield due(chance.uniform(2, 6), "PaymentCaptured", customer=customer, **money)
        yield due(chance.uniform(7, 9), "EscrowFunded", **money)
        if chance.random() < CANCEL_SHARE:
            yield due(40, "OrderCancelled", reason="changed my mind")
            yield due(43, "PaymentRefunded", **money)
            return
        carrier = "pigeon" if chance.random() < PIGEON_SHARE else chance.choice(["van", "bike", "train"])
        shipped = chance.uniform(50, 120)
        delivered = shipped + chance.uniform(60, 150)
        yield due(shipped, "OrderShipped", carrier=carrier, tracking=f"T{chance.randrange(10**8):08}")
        yield due(delivered, "OrderDelivered", carrier=carrier)
        yield due(delivered + 6, "EscrowReleased", **money)
        if chance.random() < REVIEW_SHARE:
            text = "“" * NESTED if chance.random() < POISON_SHARE else f"The {lines[0]['sku']} is lovely."
            yield due(delivered + 30, "ReviewPosted", stars=chance.randint(3, 5), text=text)

    def bad_release(self, number: int, at: datetime, *, patch: int) -> Due:
        """More than any escrow of the shop ever held."""
        order = f"order-{number}"
        data = {"order": order, "escrow": f"escrow-{number}", "amount": 99_999_900, "currency": "EUR"}
        return self.due(at, order, "EscrowReleased", data, self.describe(patch))

    def price(self, at: datetime, *, patch: int, is_malformed: bool = False) -> Due:
        sku = self.random.choice(PRODUCTS)
        data = {
            "sku": sku,
            "price": "n/a" if is_malformed else PRICES[sku] + self.random.randrange(-200, 200),
        }
        return self.due(at, f"product-{sku}", "ProductPriced", data, self.describe(patch))

    def view(self, at: datetime, *, patch: int) -> Due:
        sku = self.random.choice(PRODUCTS)
        return self.due(at, f"views-{sku}", "ProductViewed", {"sku": sku}, self.describe(patch))

    def choose_currency(self, patch: int) -> str:
        newest = newest_currency(patch)
        if newest and self.random.random() < NEW_CURRENCY_SHARE:
            return newest
        return self.random.choices(["EUR", "USD", "GBP"], weights=[6, 3, 1])[0]

    def describe(self, patch: int, *, tenant: str = "") -> dict[str, Any]:
        trace = f"{self.random.getrandbits(64):016x}"
        return {"app_version": f"1.7.{patch}", "trace_id": trace, **({"tenant": tenant} if tenant else {})}

    def due(
        self, at: datetime, stream: str, event_type: str, data: dict[str, Any], metadata: dict[str, Any]
    ) -> Due:
        self._count += 1
        return Due(at, self._count, stream, NewEvent(event_type, data, metadata))
