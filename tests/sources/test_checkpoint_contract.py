"""What every source that keeps checkpoints must do, on its own tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from sources.checkpoints.contract import Bound, Checkpoints, ForeignCheckpoint, ResetRefusedError
from sources.registry import get_source
from tests.sources.keepers import NAME, OTHER_TYPE, TYPE, EventCore, EventsourcePy, keeping

pytestmark = pytest.mark.django_db
Keeper = EventsourcePy | EventCore


@pytest.fixture(params=[EventsourcePy, EventCore], ids=["eventsource-py", "eventcore"])
def keeper(request: pytest.FixtureRequest, settings: Any) -> Iterator[Keeper]:
    with keeping(request.param) as keeper:
        settings.SOURCES = {"bank": keeper.configuration}
        settings.CONSUMERS = {f"bank/{NAME}": {"event_types": [TYPE]}}
        yield keeper


@contextmanager
def visiting() -> Iterator[Checkpoints]:
    with get_source("bank").visit() as visit:
        assert visit.checkpoints is not None
        yield visit.checkpoints


def read() -> ForeignCheckpoint:
    with visiting() as checkpoints:
        [found] = checkpoints.list_checkpoints()
        return found


def reset(stamp: str) -> bool:
    with visiting() as checkpoints:
        return checkpoints.reset_checkpoint(NAME, stamp=stamp)


def test_name_and_place_are_those_of_its_table(keeper: Keeper) -> None:
    _, second, _ = (keeper.append() for _ in range(3))
    keeper.save(second)
    found = read()
    assert (found.consumer, found.last_event_id, found.at) == (NAME, second, second)
    # A number only where its owner counts.
    assert found.position == (2 if keeper.kind == "eventsource-py" else None)
    assert 110 < (found.idle_seconds or 0) < 600


def test_lag_is_the_true_distance_and_up_to_date_is_zero(keeper: Keeper) -> None:
    keeper.save(keeper.append())
    keeper.append(OTHER_TYPE)
    keeper.append(age="5 minutes")
    last = keeper.append()
    found = read()
    assert (found.lag, found.lag_bound) == (2, Bound.EXACT)
    assert found.waiting_since is not None
    assert timedelta(minutes=4) < timezone.now() - found.waiting_since < timedelta(minutes=15)
    keeper.save(last)
    found = read()
    assert (found.lag, found.lag_bound, found.waiting_since) == (0, Bound.EXACT, None)


def test_what_cannot_be_known_is_no_zero(keeper: Keeper, settings: Any) -> None:
    event = keeper.append()
    keeper.append()
    if keeper.kind == "eventsource-py":
        # An event that nobody has: it says nothing about the place.
        keeper.save(str(uuid4()))
    else:
        keeper.save(event)
        settings.CONSUMERS = {}
    found = read()
    assert found.lag is None
    assert found.lag_note
    with visiting() as checkpoints:
        lost = checkpoints.find_unaccounted(found)
    assert lost.number is None
    assert "known" in lost.sentence


def test_a_worker_that_works_is_seen(keeper: Keeper) -> None:
    keeper.save(keeper.append())
    assert read().worker.is_running is False
    with keeper.working():
        assert read().worker.is_running is True


def test_a_reset_takes_it_back_and_twice_is_once(keeper: Keeper) -> None:
    keeper.save(keeper.append())
    stamp = read().stamp
    reset(stamp)
    assert not keeper.has_checkpoint()
    reset(stamp)
    with visiting() as checkpoints:
        assert checkpoints.list_checkpoints() == []


def test_only_the_one_that_was_meant_is_taken_back(keeper: Keeper) -> None:
    event = keeper.append()
    keeper.save(event)
    stamp = read().stamp
    keeper.execute(keeper.save_checkpoint, name="another", event_id=event, age="2 minutes")
    reset(stamp)
    assert read().consumer == "another"


def test_a_reset_is_refused_if_it_moved_since_it_was_confirmed(keeper: Keeper) -> None:
    keeper.save(keeper.append())
    stamp = read().stamp
    keeper.save(keeper.append())
    with pytest.raises(ResetRefusedError, match="moved after the reset was confirmed"):
        reset(stamp)
    assert keeper.has_checkpoint()


def test_a_reset_is_refused_while_somebody_works(keeper: Keeper) -> None:
    keeper.save(keeper.append())
    stamp = read().stamp
    with keeper.working(), pytest.raises(ResetRefusedError, match="Stop its"):
        reset(stamp)
    assert keeper.has_checkpoint()
    reset(stamp)
    assert not keeper.has_checkpoint()


def test_a_role_that_may_only_read_reads_and_is_told_what_it_may_not(keeper: Keeper, settings: Any) -> None:
    keeper.save(keeper.append())
    role = f"the-reader-{uuid4().hex[:8]}"
    keeper.execute(f'CREATE ROLE "{role}" LOGIN')
    try:
        keeper.execute(f'{keeper.may_read} "{role}"')
        user = keeper.dsn.split("://")[1].split("@")[0]
        settings.SOURCES = {
            "bank": keeper.configuration | {"dsn": keeper.dsn.replace(f"{user}@", f"{role}@", 1)}
        }
        with visiting() as checkpoints:
            found = checkpoints.inspect()
            assert checkpoints.list_checkpoints()[0].lag == 0
        assert found.reads
        table = keeper.checkpoints
        why = f'The role {role} may delete nothing in {table}: GRANT DELETE ON {table} TO "{role}";'
        assert found.writes.why_not == why
    finally:
        keeper.execute(f'DROP OWNED BY "{role}"')
        keeper.execute(f'DROP ROLE "{role}"')


def test_it_says_that_it_keeps_checkpoints_and_whether_it_has_letters(keeper: Keeper) -> None:
    with get_source("bank").visit() as visit:
        found = visit.inspect().capabilities
    assert (found.reads_checkpoints.why_not, found.resets_checkpoints.why_not) == ("", "")
    no_letters = "" if keeper.kind == "eventsource-py" else "EventCore has no table of dead letters."
    assert found.reads_letters.why_not == no_letters
