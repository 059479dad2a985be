from collections.abc import Callable, Iterator
from typing import Any

import pytest

from projections.models import ForeignProjection
from tests.sources.eventsource_py.application import WORKER, Orders, running_orders

TYPES = {
    "OrderSummaryProjection": ["OrderPlaced", "OrderPaid"],
    "LedgerProjection": ["OrderShipped"],
    "SeenProjection": ["OrderPlaced", "OrderPaid", "OrderShipped"],
}


@pytest.fixture(scope="session")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Orders]:
    with running_orders(tmp_path_factory.mktemp("orders")) as orders:
        yield orders


@pytest.fixture
def orders(application: Orders, transactional_db: None, settings: Any, patient_lanes: None) -> Orders:
    """The application as redrive.toml would name it, with what it kept from earlier tests."""
    settings.SOURCES = {"orders": {"kind": "eventsource-py", "dsn": application.dsn, "worker": WORKER}}
    settings.TARGETS = {
        "orders-api": {"kind": "http", "url": f"http://{application.address}/replay", "timeout_seconds": 20}
    }
    settings.CONSUMERS = {
        f"orders/{name}": {"target": "orders-api", "event_types": types} for name, types in TYPES.items()
    }
    return application


@pytest.fixture
def look(look_at: Callable[[str, str], ForeignProjection]) -> Callable[..., ForeignProjection]:
    return lambda name="SeenProjection": look_at("orders", name)
