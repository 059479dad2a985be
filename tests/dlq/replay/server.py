"""A real HTTP server that behaves as each event's payload says."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Received:
    """What came in, in order: event id and idempotency key."""

    url: str = ""
    events: list[tuple[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    # What somebody does while a request waits for its answer.
    meanwhile: Callable[[], object] = lambda: None

    @property
    def ids(self) -> list[str]:
        return [event_id for event_id, _ in self.events]


@contextmanager
def running_server(*, elsewhere: str = "", delay: float = 0.0) -> Iterator[Received]:
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.bodies.append(body)
            received.headers.append(dict(self.headers))
            received.events.append((self.headers["Redrive-Event-Id"], self.headers["Idempotency-Key"]))
            time.sleep(delay)
            received.meanwhile()
            self.behave(
                json.loads(body).get("how", 200), received.ids.count(self.headers["Redrive-Event-Id"])
            )

        def behave(self, how: int | str, tries: int) -> None:
            if how == "hang":
                time.sleep(3)
            elif how == "close":
                self.connection.shutdown(socket.SHUT_RDWR)
            elif how == "redirect":
                self.answer(307, {"Location": elsewhere})
            elif how == "busy":
                self.answer(*((429, {"Retry-After": "0"}) if tries == 1 else (200, {})))
            elif how == "always busy":
                self.answer(429, {"Retry-After": "0"})
            else:
                self.answer(int(how), {})

        def answer(self, status: int, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    received.url = f"http://127.0.0.1:{server.server_port}/events?from=redrive"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield received
    finally:
        server.shutdown()
        server.server_close()
