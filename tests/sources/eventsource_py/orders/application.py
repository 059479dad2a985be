"""The shop over HTTP: orders are placed, single events are replayed, and its worker is started and stopped."""

import asyncio
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from uuid import uuid4

from eventsource import ExpectedVersion, PostgreSQLEventStore, StreamId
from eventsource.domain.event_registry import get_event_class
from shop import PROJECTIONS, OrderPaid, OrderPlaced, OrderShipped, connect, create_tables, make_projection
from sqlalchemy.ext.asyncio import AsyncEngine
from worker import Worker

KINDS = {kind.__name__: kind for kind in PROJECTIONS}


async def place_order(engine: AsyncEngine, order: dict[str, Any]) -> str:
    key = uuid4()
    events = [
        OrderPlaced(aggregate_id=key, aggregate_version=1, customer="c1", total=order["total"]),
        OrderPaid(aggregate_id=key, aggregate_version=2, currency=order["currency"]),
        OrderShipped(aggregate_id=key, aggregate_version=3, carrier=order["carrier"]),
    ]
    store = PostgreSQLEventStore(engine, outbox_enabled=True)
    await store.append(StreamId(key, "Order"), events, ExpectedVersion.no_stream())
    return str(key)


async def replay(engine: AsyncEngine, projection: str, event: dict[str, Any]) -> str:
    """Through the projection itself; what fails again is in its dead-letter queue when this raises."""
    found = get_event_class(event["event_type"]).model_validate(event)
    await make_projection(KINDS[projection], engine, keeps_checkpoint=False).handle(found)
    return "handled"


async def switch(worker: Worker, order: dict[str, Any]) -> str:
    await (worker.start() if order["run"] else worker.stop())
    return "done"


def main(url: str, port: int) -> None:
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, daemon=True).start()
    engine, worker = connect(url, "orders-web"), Worker(url)

    def wait_for(coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(timeout=30)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                if self.path == "/orders":
                    self.answer(200, wait_for(place_order(engine, body)))
                elif self.path == "/worker":
                    self.answer(200, wait_for(switch(worker, body)))
                else:
                    self.answer(200, wait_for(replay(engine, self.headers["Redrive-Consumer"], body)))
            except Exception as error:
                self.answer(500, f"{type(error).__name__}: {error}")

        def answer(self, status: int, text: str) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    wait_for(create_tables(engine))
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print("ready", flush=True)
    server.serve_forever()


main(sys.argv[1], int(sys.argv[2]))
