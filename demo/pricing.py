"""What an order is worth in euro. This is where each even release has its bug: a currency without a rate."""

from dashboard.memo import Memo
from demo.models import Shop

# Euro for one unit.
RATES = {
    "EUR": 1.0,
    "USD": 0.92,
    "GBP": 1.17,
    "CHF": 1.04,
    "SEK": 0.088,
    "PLN": 0.23,
    "NOK": 0.086,
    "DKK": 0.134,
    "CZK": 0.04,
}
ALWAYS_KNOWN = 3

get_shop = Memo(lambda: Shop.objects.get_or_create(pk=1)[0], seconds=0.25)


def newest_currency(patch: int) -> str:
    """The currency that the last even release began to sell in; empty before the first. They come round again."""
    opened = list(RATES)[ALWAYS_KNOWN:]
    return opened[(patch // 2 - 1) % len(opened)] if patch >= 2 else ""


def list_rates(patch: int) -> dict[str, float]:
    """The table as that release has it: 1.7.2 sells in francs and knows no rate for them, 1.7.3 does."""
    known = dict(list(RATES.items())[: ALWAYS_KNOWN + patch // 2])
    if patch % 2 == 0:
        known.pop(newest_currency(patch), None)
    return known


def to_euro(cents: int, currency: str) -> int:
    return round(cents * list_rates(get_shop().patch)[currency])
