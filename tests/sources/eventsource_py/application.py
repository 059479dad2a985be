"""A real eventsource-py application, run by its own interpreter on its own Postgres; see orders/."""

import http.client
import json
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from bench.peer import EVENTSOURCE, get_python
from tests.processes import OwnPostgres, find_port
from tests.wait import until

SCRIPT = Path(__file__).parent / "orders" / "application.py"
# What its worker calls its sessions.
WORKER = "orders-worker"


class Orders:
    """Takes orders and replays as long as this lives; its worker runs inside `working` only."""

    def __init__(self, directory: Path) -> None:
        python = get_python(EVENTSOURCE)
        self.postgres = OwnPostgres(directory)
        self.dsn = self.postgres.url
        port = find_port()
        self.address = f"127.0.0.1:{port}"
        database = self.dsn.replace("postgresql://", "postgresql+asyncpg://")
        log = directory / "orders.log"
        with log.open("w") as output:
            self.process = subprocess.Popen(
                [str(python), str(SCRIPT), database, str(port)],
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
            )
        assert self.process.stdout is not None
        with self.process.stdout as said:
            assert said.readline() == "ready\n", log.read_text()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.postgres.close()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Its worker, caught up when this is entered, stopped in good order when it is left."""
        self._post("/worker", run=True)
        try:
            yield
        finally:
            self._post("/worker", run=False)

    def order(self, *, total: float = 5, currency: str = "EUR", carrier: str = "DHL") -> str:
        """Place, pay and ship an order: three events; gives its id."""
        return self._post("/orders", total=total, currency=currency, carrier=carrier)

    def query(self, statement: str, *values: Any) -> list[dict[str, Any]]:
        """Ask its database, or change something there."""
        with psycopg.connect(self.dsn, autocommit=True, row_factory=dict_row) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def count_head(self) -> int:
        [row] = self.query("SELECT coalesce(max(global_position), 0) AS head FROM events")
        return int(row["head"])

    def wait_until_idle(self) -> None:
        """Until its worker has handed out everything."""
        until(lambda: not self.query("SELECT 1 FROM event_outbox WHERE status = 'pending' LIMIT 1"))

    def replay(self, projection: str, event: dict[str, Any]) -> int:
        """Hand it an event again, as anybody may; gives the status of its answer."""
        return self._send("/replay", event, {"Redrive-Consumer": projection})[0]

    def _post(self, path: str, **fields: Any) -> str:
        status, text = self._send(path, fields, {})
        assert status == 200, text
        return text

    def _send(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[int, str]:
        with closing(http.client.HTTPConnection(self.address, timeout=60)) as connection:
            connection.request("POST", path, json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()


@contextmanager
def running_orders(directory: Path) -> Iterator[Orders]:
    orders = Orders(directory)
    try:
        yield orders
    finally:
        orders.close()
