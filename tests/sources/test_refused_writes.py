"""What a source refuses to take is told for as long as it does, and asked of it no more often than it must be."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.attention import list_attention
from dlq.models import DeadLetter
from sources.models import OwedRelease, OwedWrite, SourceState
from sources.sync import hold, writing
from tests.sources.foreign import Foreign
from tests.sources.stranded import release, strand

pytestmark = pytest.mark.django_db
Sync = Callable[..., SourceState]

# A sequence counts those that are rolled back too.
REFUSE = """
CREATE SEQUENCE refusals;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM nextval(''refusals''); RAISE ''not now''; END';
CREATE TRIGGER refuse BEFORE UPDATE ON dead_letter_queue FOR EACH ROW EXECUTE FUNCTION refuse();
"""


@pytest.fixture
def refuse(foreign: Foreign) -> Iterator[Callable[[], None]]:
    """From now on the source takes no write."""
    yield lambda: foreign.execute(REFUSE) and None
    foreign.execute("DROP FUNCTION IF EXISTS refuse CASCADE")
    foreign.execute("DROP SEQUENCE IF EXISTS refusals")


def close(*keys: str) -> None:
    letters = DeadLetter.objects.filter(source_key__in=keys)
    letters.update(status="resolved", closed_by="alice", closed_at=timezone.now())


def owe_writes(foreign: Foreign, sync: Sync) -> None:
    keys = foreign.add(3)
    sync()
    close(*keys)
    assert OwedWrite.objects.count() == 3


def owe_releases(foreign: Foreign, sync: Sync) -> None:
    strand(foreign, sync, 3)
    release(3)
    assert OwedRelease.objects.count() == 3


@pytest.mark.parametrize("owe", [owe_writes, owe_releases])
@pytest.mark.parametrize("batch_size", [500, 2])
def test_what_is_refused_is_told_at_every_look_though_each_batch_uses_up_the_time_of_one(
    foreign: Foreign,
    sync: Sync,
    refuse: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    owe: Callable[[Foreign, Sync], None],
    batch_size: int,
) -> None:
    owe(foreign, sync)
    refuse()
    monkeypatch.setattr(hold, "STAGE_SECONDS", 0)
    monkeypatch.setattr(writing, "BATCH_SIZE", batch_size)
    since = sync().failing_since
    for _ in range(4):
        state = sync()
        assert "not now" in state.error
        assert state.failing_since == since is not None
    SourceState.objects.update(failing_since=timezone.now() - timedelta(minutes=1))
    sync()
    assert any(need.headline == "orders does not take what is written" for need in list_attention())


def test_what_is_refused_is_told_though_others_that_came_later_are_written(
    foreign: Foreign, sync: Sync, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused, later = foreign.add(2)
    sync()
    foreign.execute(
        f"ALTER TABLE dead_letter_queue ADD CONSTRAINT never CHECK (status <> 'resolved' OR id <> {refused})"
    )
    try:
        close(refused)
        with monkeypatch.context() as hurried:
            hurried.setattr(hold, "STAGE_SECONDS", 0)
            sync()
        close(later)
        assert 'violates check constraint "never"' in sync().error
        assert foreign.get_status(later) == ("resolved", "alice")
    finally:
        foreign.execute("ALTER TABLE dead_letter_queue DROP CONSTRAINT never")


def test_a_write_that_was_asked_for_alone_is_not_asked_for_twice(
    foreign: Foreign, sync: Sync, refuse: Callable[[], None]
) -> None:
    [key] = foreign.add()
    sync()
    close(key)
    refuse()
    assert "not now" in sync().error
    assert foreign.execute("SELECT last_value FROM refusals") == [(1,)]
