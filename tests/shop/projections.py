"""The shop's projections."""

from django.db import connection
from django.db.models import F

from projections.api import (
    Criticality,
    Effects,
    PolicyTable,
    Projector,
    Skip,
    StoredEvent,
    handles,
    handles_batch,
    presets,
    register,
)
from tests.shop.faults import misbehave
from tests.shop.models import Applied, Balance


def apply(consumer: str, event: StoredEvent) -> None:
    Applied.objects.create(
        consumer=consumer,
        stream=event.stream,
        version=event.version,
        position=event.position,
        data=event.data,
    )
    misbehave(event)


class Applier(Projector):
    """Notes every event that it applies."""

    @handles("Paid", "Refunded")
    def apply(self, event: StoredEvent) -> None:
        apply(self.name, event)

    def truncate(self) -> None:
        Applied.objects.filter(consumer=self.name).delete()


@register
class Journal(Applier):
    """Stops at the first failure."""

    name = "journal"
    criticality = Criticality.LEDGER
    runbook = "https://runbooks.example.com/journal"


@register
class Prices(Applier):
    """Stops at the first failure, and may be told to skip."""

    name = "prices"


@register
class Letters(Applier):
    """Dead-letters at once."""

    name = "letters"
    policy = presets.NO_RETRY


@register
class Cache(Applier):
    name = "cache"
    criticality = Criticality.BEST_EFFORT
    policy = PolicyTable("skipping", default=Skip("a cache entry is fetched again when it is missed"))


@register
class Mailer(Applier):
    """Effects outside: one event a commit."""

    name = "mailer"
    effects = Effects.EXTERNAL
    policy = presets.NO_RETRY
    timeout_seconds = 1.0


@register
class Hybrid(Applier):
    name = "hybrid"
    policy = presets.HYBRID


@register
class Notes(Projector):
    name = "notes"

    @handles("Noted")
    def note(self, event: StoredEvent) -> None:
        apply(self.name, event)


@register
class Balances(Projector):
    """A read model that refuses what comes twice or out of order."""

    name = "balances"
    policy = presets.NO_RETRY

    @handles("Paid", "Refunded")
    def change(self, event: StoredEvent) -> None:
        Balance.objects.get_or_create(account=event.stream)
        amount = event.data["amount"] * (1 if event.type == "Paid" else -1)
        found = Balance.objects.filter(account=event.stream, version=event.version - 1)
        if not found.update(amount=F("amount") + amount, version=event.version):
            raise ValueError(f"{event.stream} is not at version {event.version - 1}")
        misbehave(event)

    def truncate(self) -> None:
        Balance.objects.all().delete()


ADD = """
INSERT INTO shop_balance AS kept (account, amount, version)
SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bigint[])
ON CONFLICT (account) DO UPDATE SET amount = kept.amount + excluded.amount, version = excluded.version
"""


@register
class QuickBalances(Projector):
    """The same by a batch handler: folded in Python, written by one statement."""

    name = "quick-balances"
    policy = presets.NO_RETRY

    @handles_batch("Paid")
    def change(self, events: list[StoredEvent]) -> None:
        totals: dict[str, int] = {}
        versions: dict[str, int] = {}
        for event in events:
            misbehave(event)
            totals[event.stream] = totals.get(event.stream, 0) + event.data["amount"]
            versions[event.stream] = event.version
        with connection.cursor() as cursor:
            cursor.execute(ADD, [list(totals), list(totals.values()), list(versions.values())])

    def truncate(self) -> None:
        Balance.objects.all().delete()


@register
class Parallel(Applier):
    """Its events of different streams may be replayed at the same time."""

    name = "parallel"
    policy = presets.NO_RETRY
    parallel_by_sequence = True
