"""Consumers that call somebody: each may see an event twice, and bears it."""

from demo.consumers import ShopProjector
from demo.endpoints import post
from demo.guarded import get_endpoint_breaker
from demo.models import Delivery, Notification, Verdict
from projections.api import (
    DeadLetter,
    Effects,
    PolicyTable,
    Retry,
    StoredEvent,
    handles,
    presets,
    register,
)


@register
class Webhooks(ShopProjector):
    """Tells sellers about their orders; each seller's endpoint has a breaker."""

    name = "webhooks"
    effects = Effects.EXTERNAL
    policy = presets.ESCROW_WEBHOOK

    @handles("OrderShipped", "OrderDelivered")
    def tell(self, event: StoredEvent) -> None:
        seller = event.data["seller"]
        endpoint = f"hooks.{seller}.example"
        with get_endpoint_breaker(endpoint).call():
            post(endpoint, f"/hooks/{seller}", event)
        delivery = Delivery(seller=seller, order=event.data["order"], position=event.position)
        Delivery.objects.bulk_create([delivery], ignore_conflicts=True)


@register
class Notifications(ShopProjector):
    """Mails to customers. The gateway is busy now and then; trying again helps."""

    name = "notifications"
    effects = Effects.EXTERNAL
    policy = PolicyTable("mail", default=Retry((0.5, 1.0, 2.0), jitter=0.2, then=DeadLetter()))

    @handles("PaymentCaptured", "OrderCancelled")
    def send(self, event: StoredEvent) -> None:
        post("mail gateway", "/mail", event)
        mail = Notification(order=event.data["order"], event_type=event.type, position=event.position)
        Notification.objects.bulk_create([mail], ignore_conflicts=True)


@register
class ReviewModeration(ShopProjector):
    """Asks a model what it thinks of a review. A rare one cannot even be read."""

    name = "review-moderation"
    effects = Effects.EXTERNAL
    policy = presets.QUEUE_KEEPER

    @handles("ReviewPosted")
    def judge(self, event: StoredEvent) -> None:
        depth = count_quotes(event.data["text"], 0)
        answer = post("moderation model", "/model", event)
        verdict = Verdict(
            order=event.data["order"], score=answer["score"] / (1 + depth), position=event.position
        )
        Verdict.objects.bulk_create([verdict], ignore_conflicts=True)

    def truncate(self) -> None:
        Verdict.objects.all().delete()


def count_quotes(text: str, depth: int) -> int:
    """How deep quotes are nested; written by somebody who had never met a reader of four thousand."""
    return count_quotes(text, depth + 1) if text[depth : depth + 1] == "“" else depth
