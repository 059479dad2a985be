from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class Shop(models.Model):
    """The one row of what the shop is doing."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    # Version 1.7.<patch> is deployed; an even one has a bug, the next one its fix.
    patch = models.IntegerField(default=1)
    released_at = models.DateTimeField(db_default=Now())
    last_order = models.IntegerField(default=10_000)
    # Where the sink listens; 0: nowhere yet.
    sink_port = models.IntegerField(default=0)
    # Where the past begins, how far it has been made, and whether it is complete.
    past_from = models.DateTimeField(null=True, blank=True)
    past_at = models.DateTimeField(null=True, blank=True)
    is_past_made = models.BooleanField(default=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="shop_is_one_row")]

    def __str__(self) -> str:
        return f"shop {self.version}"

    @property
    def version(self) -> str:
        return f"1.7.{self.patch}"

    @property
    def is_buggy(self) -> bool:
        return self.patch % 2 == 0


class Story(models.Model):
    """Something that goes wrong from a time on, and perhaps until one."""

    name = models.TextField(primary_key=True)
    began_at = models.DateTimeField()
    # None: until somebody ends it.
    ends_at = models.DateTimeField(null=True, blank=True)
    # Whom it hits, such as a seller.
    subject = models.TextField(blank=True)
    is_on = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.name} {'on' if self.is_on else 'off'}"


class Account(models.Model):
    """The ledger's read model: what an order's escrow holds, in cents of its currency."""

    escrow = models.TextField(primary_key=True)
    currency = models.TextField()
    captured = models.BigIntegerField(default=0)
    held = models.BigIntegerField(default=0)
    paid_out = models.BigIntegerField(default=0)
    position = models.BigIntegerField(default=0, db_index=True)

    def __str__(self) -> str:
        return f"{self.escrow}: {self.held}"


class OrderSummary(models.Model):
    """What customer service sees of an order."""

    order = models.TextField(primary_key=True)
    customer = models.TextField()
    state = models.TextField()
    total = models.BigIntegerField()
    currency = models.TextField()
    total_in_euro = models.BigIntegerField()
    position = models.BigIntegerField(default=0, db_index=True)

    def __str__(self) -> str:
        return f"{self.order}: {self.state}"


class CachedPrice(models.Model):
    """What product pages show; fetched again where it is missing."""

    sku = models.TextField(primary_key=True)
    price = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.sku}: {self.price}"


class Notification(models.Model):
    """A mail that the gateway took."""

    order = models.TextField()
    event_type = models.TextField()
    position = models.BigIntegerField(unique=True)

    def __str__(self) -> str:
        return f"{self.event_type} of {self.order}"


class Delivery(models.Model):
    """A webhook that a seller's endpoint took."""

    seller = models.TextField()
    order = models.TextField()
    position = models.BigIntegerField(unique=True)

    def __str__(self) -> str:
        return f"{self.order} to {self.seller}"


class Verdict(models.Model):
    """What the model thinks of a review."""

    order = models.TextField(primary_key=True)
    score = models.FloatField()
    position = models.BigIntegerField(default=0, db_index=True)

    def __str__(self) -> str:
        return f"{self.order}: {self.score:.2f}"


class Popularity(models.Model):
    """How often a product was looked at: what the search sorts by."""

    sku = models.TextField(primary_key=True)
    views = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.sku}: {self.views}"


class SeenStep(models.Model):
    """A step of the guided first visit that somebody took by looking at a page."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    name = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="seen_step_key")]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.name}"
