"""The warehouse's projections; some fail, as software of others does."""

import random
from collections.abc import Callable
from typing import Any

Payload = dict[str, Any]


class ScannerOffline(TimeoutError):
    """The shelf's scanner did not answer."""


def keep_stock_level(payload: Payload) -> None:
    if payload["quantity"] < 0:
        raise ValueError(f"negative quantity {payload['quantity']} of {payload['sku']}")


def write_pick_list(payload: Payload) -> None:
    shelf = payload["location"]["shelf"]
    if random.random() < 0.004:
        raise ScannerOffline(f"scanner of shelf {shelf!r} timed out after 3 s")


def print_label(payload: Payload) -> None:
    if not payload["carrier"]:
        raise ValueError("carrier is empty\nexpected one of van, bike, train")


# By the names that their checkpoints and letters have; and how many events each does in a second.
PROJECTIONS: dict[str, tuple[Callable[[Payload], None], float]] = {
    "StockLevelProjection": (keep_stock_level, 20),
    "PickListProjection": (write_pick_list, 20),
    "CarrierLabelProjection": (print_label, 0.2),
}
