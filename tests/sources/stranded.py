"""Rows that were asked to be tried again, and that nobody tries."""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import uuid4

from django.utils import timezone

from dashboard.memo import forget_all
from dashboard.models import Run
from dlq.models import DeadLetter
from dlq.operations import start_replay
from dlq.queries.replay import preview_replay
from dlq.replay.options import ReplayOptions
from dlq.selection import Selection, newest_id
from sources.models import ForeignRow, SourceState
from sources.operations import release_rows
from sources.orphans import find_orphans
from tests.dlq.replay.conftest import run_all
from tests.sources.foreign import Foreign

Sync = Callable[..., SourceState]


def strand(foreign: Foreign, sync: Sync, number: int = 1, minutes: float = 16) -> list[str]:
    """So many rows that were seen in the word for so long."""
    keys = foreign.add(number)
    for key in keys:
        foreign.set_status(key, foreign.words["retry"])
    sync()
    age(minutes, keys)
    return keys


def age(minutes: float, keys: list[str]) -> None:
    long_ago = timezone.now() - timedelta(minutes=minutes)
    assert ForeignRow.objects.filter(key__in=keys).update(retrying_since=long_ago) == len(keys)
    forget_all()


def count() -> int:
    found = find_orphans("orders")
    return found.count if found else 0


def release(confirmed: int, at: datetime | None = None) -> None:
    release_rows("orders", until=at or timezone.now(), confirmed=confirmed, actor="alice", reason="a crash")


def replay() -> Run:
    """Of all letters there are."""
    selection = Selection(DeadLetter.objects.all(), newest_id(), is_by_hand=False, description={})
    run = start_replay(
        selection,
        confirmed=preview_replay(selection).count,
        options=ReplayOptions(canary=False, stop_after=None),
        actor="alice",
        request_key=uuid4(),
    )
    return run_all(run, rounds=2)
