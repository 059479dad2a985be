"""A worker without a session at this moment, such as one with NullPool, may run all the same."""

import re
from collections.abc import Callable

import pytest

from dashboard.models import Run
from projections.models import ForeignProjection
from tests.dlq.replay.conftest import totals
from tests.sources.keepers import FRESH, EventsourcePy

Look = Callable[[], ForeignProjection]
Reset = Callable[[ForeignProjection], Run]


def handle(bank: EventsourcePy, event_ids: list[str]) -> None:
    for event_id in event_ids:
        bank.save(event_id, age=FRESH)


@pytest.fixture
def taken_back(bank: EventsourcePy, look: Look, reset: Reset) -> list[str]:
    """Six events, all handled; its worker was seen, then not, and its checkpoint was reset. Gives their ids."""
    ids = [bank.append() for _ in range(6)]
    bank.save(ids[-1])
    with bank.working():
        look()
    row = look()
    assert row.worker_seen_at is not None
    assert totals(reset(row)) == {"reset": 1}
    assert look().reset["verdict"] == "waiting"
    return ids


def test_a_checkpoint_that_moved_just_now_is_left_alone_although_no_session_is_there(
    bank: EventsourcePy, look: Look, reset: Reset
) -> None:
    event = bank.append()
    bank.save(event)
    with bank.working():
        assert look().state == "running"
    bank.save(event, age="1 second")
    run = reset(look())
    assert totals(run) == {"refused": 1}
    refusal = run.lanes.get().cursor["refusal"]
    assert re.search(r"moved at \d\d:\d\d:\d\d UTC, and its worker may run still", refusal)
    assert bank.has_checkpoint()


def test_back_at_the_head_at_once_is_not_taken_for_begun_anew(
    bank: EventsourcePy, look: Look, taken_back: list[str]
) -> None:
    handle(bank, [bank.append()])
    found = look().reset
    assert found["verdict"] == "undone"
    assert "stood at 7, where it had been or beyond, and nothing shows" in found["sentence"]


def test_one_that_has_handled_more_than_came_since_has_begun_anew(
    bank: EventsourcePy, look: Look, taken_back: list[str]
) -> None:
    handle(bank, [*taken_back, bank.append()])
    assert look().reset["verdict"] == "holds"


def test_one_that_is_seen_on_its_way_has_begun_anew(
    bank: EventsourcePy, look: Look, taken_back: list[str]
) -> None:
    handle(bank, taken_back[:1])
    assert look().reset["verdict"] == "holds"
