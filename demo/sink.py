"""The outside world: sellers' endpoints, a mail gateway and a model, behind one local port; some misbehave."""

import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

# Of the calls.
FLAKY_SHARE = 0.03
# One customer in so many never empties the mailbox.
FULL_EVERY = 60
HOST = "127.0.0.1"


class Sink:
    """Listens on a port of its own choice; `dead` names the seller whose endpoint is down."""

    def __init__(self, seed: int) -> None:
        self.dead = ""
        self._random = random.Random(seed)
        handler = type("Handler", (Handler,), {"sink": self})
        self._server = ThreadingHTTPServer((HOST, 0), handler)
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        # Asked to stop, it looks up within a tenth of a second.
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=[0.1], name="sink", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, place: str, name: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The status and the words for one call."""
        if place == "hooks" and name == self.dead:
            return 503, {"error": "down"}
        if place == "hooks" and body.get("carrier") == "pigeon":
            return 422, {"error": "unknown carrier"}
        if place == "mail" and int(body["order"].rpartition("-")[2]) % FULL_EVERY == 0:
            return 503, {"error": "the mailbox is full"}
        if place in ("mail", "model") and self._random.random() < FLAKY_SHARE:
            return 503, {"error": "busy"}
        return 200, {"score": round(self._random.uniform(0.6, 0.99), 2)}


class Handler(BaseHTTPRequestHandler):
    """POST /hooks/<seller>, /mail and /model."""

    sink: ClassVar[Sink]
    # One packet an answer: with two, the second would wait for the caller's word about the first.
    wbufsize = -1

    def do_POST(self) -> None:
        _, place, *rest = self.path.split("/")
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, words = self.sink.answer(place, rest[0] if rest else "", body)
        answer = json.dumps(words).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads the outside world's log."""
