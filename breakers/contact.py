"""The library's way to Redis: little patience, and none at all for a while after it was disappointed."""

import logging
import threading
import time
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from breakers.wire import Wire

logger = logging.getLogger(__name__)

# A call asks Redis before it begins and may report after it ends; together they may cost it this much.
BUDGET_SECONDS = 0.05
CONTACTS_PER_CALL = 2
# After a contact that failed nobody asks for this long; then one call tries, and the others do not wait for it.
PAUSE_SECONDS = 1.0
# One for each thread that calls at the same moment; beyond it a call goes by its process's own breaker.
MOST_CONNECTIONS = 1000


class Contact:
    """A connection pool, and whether it is worth using."""

    def __init__(self, url: str, *, budget_seconds: float = BUDGET_SECONDS) -> None:
        self._patience = patience = budget_seconds / CONTACTS_PER_CALL
        self.redis = redis.Redis.from_url(
            url,
            socket_timeout=patience,
            socket_connect_timeout=patience,
            retry=Retry(NoBackoff(), 0),
            max_connections=MOST_CONNECTIONS,
            # Each of these would be a round trip of a connection that is made anew.
            protocol=2,
            driver_info=None,
        )
        self._wire = Wire(self.redis.connection_pool)
        self._turn = threading.local()
        self._silent_until = 0.0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """What this thread asks from here on may take as long as one answer, however many commands it is."""
        self._turn.ends_at = time.monotonic() + self._patience

    def execute(self, *arguments: str | bytes | int) -> Any:
        return self._wire.execute(*arguments, until=self._turn.ends_at)

    def is_away(self) -> bool:
        """Whether to go on without Redis; after the pause, one caller is told to try."""
        if not self._silent_until:
            return False
        with self._lock:
            now = time.monotonic()
            if now < self._silent_until:
                return True
            self._silent_until = now + PAUSE_SECONDS
            return False

    def note_answer(self) -> None:
        if self._silent_until:
            self._silent_until = 0.0
            logger.warning("Redis answers again: breakers are shared again")

    def note_failure(self, error: redis.RedisError) -> None:
        if not self._silent_until:
            logger.warning(
                "Redis does not answer (%s): every process goes on with breakers of its own", error
            )
        self._silent_until = time.monotonic() + PAUSE_SECONDS
