"""A real eventsource-py application, run by its own interpreter on its own Postgres; see orders/."""

import json
import shutil
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from bench.peer import EVENTSOURCE, get_python
from tests.processes import OwnPostgres, find_port
from tests.wait import until

HERE = Path(__file__).parent / "orders"


class Orders:
    """Its web side runs as long as this; its worker as often as `working` is entered."""

    def __init__(self, directory: Path) -> None:
        self.python = get_python(EVENTSOURCE)
        self.log = directory / "orders.log"
        self.postgres = OwnPostgres(directory / "orders")
        self.dsn = self.postgres.url
        self.url = f"http://127.0.0.1:{(port := find_port())}"
        self.web = self._start("web.py", str(port))

    def close(self) -> None:
        self.web.kill()
        self.web.wait()
        self.postgres.close()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Its worker, ready when this is entered, stopped in good order when it is left."""
        worker = self._start("worker.py")
        try:
            yield
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(timeout=30) == 0, self.log.read_text()
        finally:
            worker.kill()
            worker.wait()

    def order(self, *, total: float = 5, currency: str = "EUR", carrier: str = "DHL") -> str:
        """Place, pay and ship an order: three events; gives its id."""
        body = json.dumps({"total": total, "currency": currency, "carrier": carrier}).encode()
        request = urllib.request.Request(f"{self.url}/orders", body, method="POST")  # noqa: S310
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return str(answer.read().decode())

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

    def _start(self, script: str, *arguments: str) -> "subprocess.Popen[str]":
        url = self.dsn.replace("postgresql://", "postgresql+asyncpg://")
        with self.log.open("a") as log:
            process = subprocess.Popen(
                [str(self.python), str(HERE / script), url, *arguments],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        assert said == "ready", said + self.log.read_text()
        return process


@contextmanager
def running_orders(directory: Path) -> Iterator[Orders]:
    orders = Orders(directory)
    try:
        yield orders
    finally:
        orders.close()
        shutil.rmtree(directory, ignore_errors=True)
