"""Which rows stand in their source's word for "try again" and are tried by nobody."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from dlq.models import LetterRunItem
from sources.models import ForeignRow, SourceState
from sources.operations import SourceRefused
from sources.orphans import find_orphans
from tests.sources.foreign import Foreign
from tests.sources.stranded import Sync, age, count, release, replay, strand

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["eventsource-py", "sql"])
def foreign(request: pytest.FixtureRequest, make_foreign: Callable[..., Foreign]) -> Foreign:
    return make_foreign(request.param)


@pytest.mark.django_db(transaction=True)
def test_a_row_counts_from_when_the_word_was_first_seen_and_anew_after_every_move(
    foreign: Foreign, sync: Sync
) -> None:
    moved, left, plain = foreign.add(3)
    for key in (moved, left):
        foreign.set_status(key, foreign.words["retry"])
    sync()
    # Also if the word was there at the first look: how long it had stood so nobody knows.
    first = dict(ForeignRow.objects.values_list("key", "retrying_since"))
    assert first[moved]
    assert first[left]
    assert first[plain] is None
    age(16, [moved, left])
    sync()
    assert count() == 2
    # Tried, failed, and asked for again between two looks.
    foreign.fail_again(moved)
    foreign.set_status(moved, foreign.words["retry"])
    foreign.set_status(plain, foreign.words["retry"])
    sync()
    assert count() == 1
    since = dict(ForeignRow.objects.values_list("key", "retrying_since"))
    assert since[moved] > first[moved]
    assert since[plain] > first[moved] > since[left]
    foreign.set_status(left, foreign.words["resolved"])
    foreign.delete(moved)
    sync()
    assert set(ForeignRow.objects.filter(key__in=[left, moved]).values_list("retrying_since")) == {(None,)}


def test_the_time_is_a_setting_and_ends_with_the_last_look(
    make_foreign: Callable[..., Foreign], sync: Sync
) -> None:
    strand(make_foreign(retry_minutes=30), sync, minutes=31)
    assert count() == 1
    ForeignRow.objects.update(retrying_since=timezone.now() - timedelta(minutes=29))
    assert count() == 0
    # Nobody has looked for an hour: it was seen so for a minute only.
    ForeignRow.objects.update(retrying_since=timezone.now() - timedelta(minutes=61))
    SourceState.objects.update(synced_at=timezone.now() - timedelta(minutes=60))
    assert count() == 0


def test_a_word_that_is_said_later_is_found_by_the_sweep(
    make_foreign: Callable[..., Foreign], sync: Sync, settings: Any
) -> None:
    foreign = make_foreign("sql")
    without = {name: value for name, value in settings.SOURCES["orders"].items() if name != "retry"}
    with_retry = settings.SOURCES
    settings.SOURCES = {"orders": without}
    [key] = foreign.add()
    foreign.set_status(key, "again")
    sync()
    assert ForeignRow.objects.get().retrying_since is None
    assert find_orphans("orders") is None
    settings.SOURCES = with_retry
    sync()
    assert ForeignRow.objects.get().retrying_since is not None
    # Where it is the only word for open rows, it says nothing.
    settings.SOURCES = {"orders": with_retry["orders"] | {"open": ["again"]}}
    sync()
    assert ForeignRow.objects.get().retrying_since is None


def test_a_time_in_the_future_makes_no_orphan(foreign: Foreign, sync: Sync) -> None:
    strand(foreign, sync, minutes=1)
    with pytest.raises(SourceRefused):
        release(1, timezone.now() + timedelta(hours=1))


@pytest.mark.django_db(transaction=True)
def test_what_a_replay_of_ours_waits_for_is_no_orphan(foreign: Foreign, sync: Sync, settings: Any) -> None:
    settings.CONSUMERS = {"orders/OrderSummary": {"target": "source"}}
    [key] = foreign.add()
    sync()
    replay()
    sync()
    age(20, [key])
    assert count() == 0
    # Nobody confirmed it in its time.
    LetterRunItem.objects.update(is_active=False, outcome="unconfirmed")
    assert count() == 1
