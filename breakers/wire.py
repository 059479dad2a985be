"""Commands to Redis at a third less than redis-py's client takes, over redis-py's own connections.

Around each command the client does bookkeeping for retries, metrics and conversions that a breaker does not want, and
for a call that only asks "closed?" that is most of the cost; `manage.py bench breaker` has the figures.
"""

from math import inf
from time import monotonic
from typing import Any

from redis import ConnectionPool
from redis.exceptions import TimeoutError


class Wire:
    """Sends one command and reads its answer, as bytes; raises what redis-py raises, and within `until`."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool

    def execute(self, *arguments: str | bytes | int, until: float = inf) -> Any:
        packed = [b"*%d\r\n" % len(arguments)]
        for argument in arguments:
            value = argument if isinstance(argument, bytes) else str(argument).encode()
            packed.append(b"$%d\r\n%b\r\n" % (len(value), value))
        whole = until - monotonic()
        connection = self._pool.get_connection()
        try:
            left = until - monotonic()
            # One that took so long to be made waits for the next command, which then has all its time for the answer.
            if left <= 0 or left < whole / 2:
                raise TimeoutError("No time is left for an answer")
            # Both disconnect when they fail or are interrupted, so no answer is left for the next to read.
            connection.send_packed_command([b"".join(packed)])  # type: ignore[no-untyped-call]
            return connection.read_response() if left == inf else connection.read_response(timeout=left)
        finally:
            self._pool.release(connection)
