"""Holding a source: one look at a time, by whoever has the lease.

If the process dies
1. before `claim` commits: nothing happened;
2. after it: the lease runs out, and the next look begins where the last recording ended;
3. between two recordings: the same; what was read and not recorded is read again.
One that stalls past its lease and wakes up fails the check in `recording`: what it read is old by then.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Now

from dashboard.runs.lanes import in_seconds
from sources.base import SourceError
from sources.models import SourceState

# Longer than the task that looks may take, see tasks.py.
LEASE_SECONDS = 60
# What one look does at most; the rest is done in the next.
TURN_SECONDS = 2.0
# A source that fails is asked again after this long, doubled each time; it must not keep others waiting.
FIRST_WAIT_SECONDS = 1
MOST_WAIT_SECONDS = 15


class SourceLostError(Exception):
    """Another process looks at this source now; nothing may be recorded for it any more."""


class SourceHold:
    """A process's hold on a source, for as long as its lease is renewed by recordings."""

    def __init__(self, state: SourceState) -> None:
        self.name = state.name
        self.token = state.leased_by
        # As it was at the claim, with what this look found out; saved by recordings.
        self.cursor: dict[str, Any] = state.cursor
        self.inspection: dict[str, Any] = state.inspection
        self.state = state
        self._began = time.monotonic()

    @property
    def is_time_left(self) -> bool:
        return time.monotonic() < self._began + TURN_SECONDS

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Make sure that the source is still ours, and save in one transaction what the block did."""
        with transaction.atomic():
            ours = SourceState.objects.select_for_update().filter(
                name=self.name, leased_by=self.token, leased_until__gt=Now()
            )
            if not ours.exists():
                raise SourceLostError(f"{self.name} is looked at by another process")
            yield
            SourceState.objects.filter(name=self.name).update(
                cursor=self.cursor, leased_until=in_seconds(LEASE_SECONDS)
            )

    def end(self) -> None:
        """The look came to its end."""
        SourceState.objects.filter(name=self.name, leased_by=self.token).update(
            cursor=self.cursor,
            leased_until=None,
            leased_by="",
            next_at=None,
            synced_at=Now(),
            took_ms=round(1000 * (time.monotonic() - self._began)),
            error="",
            failing_since=None,
            is_permanent=False,
            error_count=0,
        )

    def fail(self, error: SourceError) -> None:
        """The look failed; it is tried again later, and what it recorded so far stays."""
        wait = min(FIRST_WAIT_SECONDS * 2 ** min(self.state.error_count, 10), MOST_WAIT_SECONDS)
        SourceState.objects.filter(name=self.name, leased_by=self.token).update(
            leased_until=None,
            leased_by="",
            next_at=in_seconds(wait),
            error=str(error),
            failing_since=Coalesce(F("failing_since"), Now()),
            is_permanent=error.permanent,
            error_count=F("error_count") + 1,
            # What the source allows may be what changed.
            inspected_at=None,
        )


def claim(name: str, *, kind: str, takes_writes: bool) -> SourceHold | None:
    """Take the source; None if another process has it, or if it is not to be asked yet."""
    token = uuid4().hex
    free = Q(leased_until=None) | Q(leased_until__lte=Now())
    due = Q(next_at=None) | Q(next_at__lte=Now())
    facts = {"kind": kind, "takes_writes": takes_writes}
    taken = SourceState.objects.filter(free, due, name=name).update(
        leased_by=token, leased_until=in_seconds(LEASE_SECONDS), **facts
    )
    if not taken:
        if SourceState.objects.filter(name=name).exists():
            return None
        # Two may see it for the first time; one of them makes the row, and the next look is either's.
        SourceState.objects.bulk_create([SourceState(name=name, **facts)], ignore_conflicts=True)
        return claim(name, kind=kind, takes_writes=takes_writes)
    return SourceHold(SourceState.objects.get(name=name, leased_by=token))


def is_older(at: Any, seconds: float, now: Any) -> bool:
    return at is None or now - at > timedelta(seconds=seconds)
