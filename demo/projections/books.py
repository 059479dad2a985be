"""What must be right: the ledger and the order summary."""

from typing import ClassVar

from django.db.models import F, QuerySet

from demo.consumers import ShopProjector
from demo.models import Account, OrderSummary
from demo.pricing import to_euro
from projections.api import (
    Criticality,
    PolicyTable,
    Retry,
    StoredEvent,
    handles,
    presets,
    register,
)


class LedgerError(ValueError):
    """The books would not balance."""


@register
class Ledger(ShopProjector):
    """What each escrow holds. It stops rather than be wrong."""

    name = "ledger"
    criticality = Criticality.LEDGER
    policy = PolicyTable("ledger", by_category={"transient": Retry((0.1, 0.5, 2.0))})

    @handles("PaymentCaptured")
    def capture(self, event: StoredEvent) -> None:
        account = Account(
            escrow=event.data["escrow"],
            currency=event.data["currency"],
            captured=event.data["amount"],
            position=event.position,
        )
        Account.objects.bulk_create(
            [account], update_conflicts=True, unique_fields=["escrow"], update_fields=["captured", "position"]
        )

    @handles("EscrowFunded")
    def fund(self, event: StoredEvent) -> None:
        self.find(event).update(held=event.data["amount"])

    @handles("EscrowReleased")
    def release(self, event: StoredEvent) -> None:
        amount = event.data["amount"]
        covered = self.find(event).filter(held__gte=amount)
        if covered.update(held=F("held") - amount, paid_out=F("paid_out") + amount):
            return
        # One that is not on the books was settled before they begin.
        for account in self.find(event):
            raise LedgerError(f"{account.escrow} holds {account.held} and is asked for {amount}")

    @handles("PaymentRefunded")
    def refund(self, event: StoredEvent) -> None:
        self.find(event).update(held=0)

    def find(self, event: StoredEvent) -> QuerySet[Account]:
        return Account.objects.filter(escrow=event.data["escrow"])

    def truncate(self) -> None:
        Account.objects.all().delete()


@register
class OrderSummaries(ShopProjector):
    """What customer service sees. An order that fails is set aside with all that follows it."""

    name = "order-summary"
    policy = presets.NO_RETRY

    STATES: ClassVar[dict[str, str]] = {
        "PaymentCaptured": "paid",
        "OrderCancelled": "cancelled",
        "OrderShipped": "shipped",
        "OrderDelivered": "delivered",
    }

    @handles("OrderPlaced")
    def place(self, event: StoredEvent) -> None:
        data = event.data
        total = int(data["total"])
        summary = OrderSummary(
            order=data["order"],
            customer=data["customer"]["name"],
            state="placed",
            total=total,
            currency=data["currency"],
            total_in_euro=to_euro(total, data["currency"]),
            position=event.position,
        )
        fields = ["customer", "state", "total", "currency", "total_in_euro", "position"]
        OrderSummary.objects.bulk_create(
            [summary], update_conflicts=True, unique_fields=["order"], update_fields=fields
        )

    @handles(*STATES)
    def move(self, event: StoredEvent) -> None:
        OrderSummary.objects.filter(order=event.data["order"]).update(state=self.STATES[event.type])

    def truncate(self) -> None:
        OrderSummary.objects.all().delete()
