"""The example that the README points to does what it says."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from breakers.operations import reset_breaker
from examples.parcels.models import Parcel
from projections.models import Projection, WaitingEvent
from projections.store import NewEvent, append
from tests.processes import find_port
from tests.projections.conftest import RecordedClock, _committed, clock, work

__all__ = ["_committed", "clock", "work"]
Work = Callable[..., Projection]


@pytest.fixture
def parcel() -> None:
    append(
        "parcel-1",
        [NewEvent("ParcelSent", {"place": "Ghent"}), NewEvent("ParcelScanned", {"place": "Lille"})],
    )


class Carrier(BaseHTTPRequestHandler):
    keys: list[str]
    port: int

    def do_POST(self) -> None:
        self.keys.append(self.headers["Idempotency-Key"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def carrier() -> Iterator[type[Carrier]]:
    """Somebody who answers."""
    handler = type("Handler", (Carrier,), {"keys": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
    handler.port = server.server_address[1]
    yield handler
    server.shutdown()
    server.server_close()


def test_the_read_model_follows_the_events(parcel: None, work: Work) -> None:
    assert work("parcels").position == 2
    assert Parcel.objects.get().place == "Lille"


def test_the_call_waits_for_its_breaker_and_goes_out_once_it_is_reset(
    parcel: None,
    carrier: type[Carrier],
    work: Work,
    clock: RecordedClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CARRIER_URL", f"http://127.0.0.1:{find_port()}/")
    for _ in range(6):
        clock.sleep(10)
        work("carrier-calls")
    waiting = WaitingEvent.objects.get()
    assert waiting.breaker == "carrier"
    monkeypatch.setenv("CARRIER_URL", f"http://127.0.0.1:{carrier.port}/")
    reset_breaker("carrier", actor="tests", reason="it answers again")
    clock.sleep(600)
    work("carrier-calls")
    assert len(carrier.keys) == 1
    assert not WaitingEvent.objects.exists()
