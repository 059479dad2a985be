"""Holding a source: one look at a time, by whoever has the lease.

If the process dies
1. before `claim` commits: nothing happened;
2. after it: the lease runs out, and the next look begins where the last recording ended;
3. between two recordings: the same; what was read and not recorded is read again.
One that stalls past its lease and wakes up fails the check in `recording`: what it read is old by then.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.db import connection, transaction
from django.db.models import Case, F, When
from django.db.models.functions import Now

from dashboard.runs.lanes import in_seconds
from sources.base import SourceError
from sources.models import SourceState

# Longer than the task that looks may take, see tasks.py.
LEASE_SECONDS = 60
# What each stage of a look takes at most, be it writing, releasing, reading or sweeping; the rest is done in the next.
STAGE_SECONDS = 1.0
# A source that fails is asked again after this long, doubled each time; it must not keep others waiting.
FIRST_WAIT_SECONDS = 1
MOST_WAIT_SECONDS = 15


# Claim and end happen every two seconds and need not survive a crash of the server: then the lease is over anyway, and
# what follows the cursor is read again. Whatever a look recorded was committed before its end, and so is safe.
CLAIM = """
WITH quickly AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
UPDATE sources_sourcestate SET
    leased_by = %(token)s, leased_until = now() + make_interval(secs => %(seconds)s), kind = %(kind)s,
    takes_writes = %(takes_writes)s
FROM quickly
WHERE name = %(name)s AND (leased_until IS NULL OR leased_until <= now()) AND (next_at IS NULL OR next_at <= now())
RETURNING cursor::text, inspection::text, inspected_at, error_count
"""
ADD = """
INSERT INTO sources_sourcestate
    (name, kind, takes_writes, cursor, leased_by, error, is_permanent, error_count, inspection)
VALUES (%(name)s, %(kind)s, %(takes_writes)s, '{}', '', '', false, 0, '{}') ON CONFLICT DO NOTHING
"""
END = """
WITH quickly AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
UPDATE sources_sourcestate SET
    cursor = %(cursor)s, leased_until = NULL, leased_by = '', next_at = NULL, synced_at = now(), took_ms = %(took)s,
    error = %(error)s, failing_since = CASE WHEN %(error)s = '' THEN NULL WHEN error_count > 0 THEN now()
        ELSE coalesce(failing_since, now()) END,
    is_permanent = %(permanent)s, error_count = 0
FROM quickly
WHERE name = %(name)s AND leased_by = %(token)s
"""


class SourceLostError(Exception):
    """Another process looks at this source now; nothing may be recorded for it any more."""


class Stage:
    """A part of a look. Each has time of its own, so that none that has much to do keeps another from beginning."""

    def __init__(self) -> None:
        self._ends_at = time.monotonic() + STAGE_SECONDS

    @property
    def is_time_left(self) -> bool:
        return time.monotonic() < self._ends_at


class SourceHold:
    """A process's hold on a source, for as long as its lease is renewed by recordings."""

    def __init__(
        self,
        name: str,
        token: str,
        cursor: dict[str, Any],
        inspection: dict[str, Any],
        inspected_at: datetime | None,
        error_count: int,
    ) -> None:
        self.name = name
        self.token = token
        # As they were at the claim, with what this look found out; the cursor is saved by recordings.
        self.cursor = cursor
        self.inspection = inspection
        self.inspected_at = inspected_at
        self.error_count = error_count
        self._began = time.monotonic()

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Make sure that the source is still ours, and save in one transaction what the block did."""
        with transaction.atomic():
            ours = SourceState.objects.select_for_update().filter(
                name=self.name, leased_by=self.token, leased_until__gt=Now()
            )
            if ours.first() is None:
                raise SourceLostError(f"{self.name} is looked at by another process")
            yield
            SourceState.objects.filter(name=self.name).update(
                cursor=self.cursor, leased_until=in_seconds(LEASE_SECONDS)
            )

    def end(self, trouble: SourceError | None = None) -> None:
        """The look came to its end, maybe with trouble on the way that did not stop it."""
        with connection.cursor() as cursor:
            cursor.execute(
                END,
                {
                    "name": self.name,
                    "token": self.token,
                    "cursor": json.dumps(self.cursor),
                    "took": round(1000 * (time.monotonic() - self._began)),
                    "error": str(trouble or ""),
                    "permanent": bool(trouble and trouble.permanent),
                },
            )

    def fail(self, error: SourceError) -> None:
        """The look failed; it is tried again later, and what it recorded so far stays."""
        wait = min(FIRST_WAIT_SECONDS * 2 ** min(self.error_count, 10), MOST_WAIT_SECONDS)
        SourceState.objects.filter(name=self.name, leased_by=self.token).update(
            leased_until=None,
            leased_by="",
            next_at=in_seconds(wait),
            error=str(error),
            # If no look failed before this one, what failed until now was only the writing.
            failing_since=Case(When(error_count=0, then=Now()), default=F("failing_since")),
            is_permanent=error.permanent,
            error_count=F("error_count") + 1,
            # What the source allows may be what changed.
            inspected_at=None,
        )


def claim(name: str, *, kind: str, takes_writes: bool) -> SourceHold | None:
    """Take the source; None if another process has it, or if it is not to be asked yet."""
    token = uuid4().hex
    values: dict[str, Any] = {
        "name": name,
        "kind": kind,
        "takes_writes": takes_writes,
        "token": token,
        "seconds": LEASE_SECONDS,
    }
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, values)
        row = cursor.fetchone()
        if row is None:
            # Seen for the first time, or taken; of two who add it the one that is first to claim it looks.
            cursor.execute(ADD, values)
            cursor.execute(CLAIM, values)
            row = cursor.fetchone()
    if row is None:
        return None
    kept, inspection, inspected_at, error_count = row
    return SourceHold(name, token, json.loads(kept), json.loads(inspection), inspected_at, error_count)
