"""The event store: versions, batches, and positions that follow commits."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest
from django.db import connection, transaction

from projections.models import Event, EventType
from projections.store import (
    DuplicateEventError,
    NewEvent,
    VersionConflictError,
    append,
    find_position,
    get_head,
    read,
    read_stream,
)

pytestmark = pytest.mark.django_db(transaction=True)


def paid(amount: int = 1) -> NewEvent:
    return NewEvent("Paid", {"amount": amount})


@contextmanager
def thread(work: Callable[[], None]) -> Iterator[threading.Thread]:
    """A writer of its own, with a connection of its own."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    started = threading.Thread(target=run)
    started.start()
    yield started
    started.join(30)
    assert not errors
    assert not started.is_alive()


def positions() -> list[int]:
    return [event.position for event in read(after=0, types=["Paid"], limit=1000)]


def test_a_batch_is_appended_in_order_with_versions_and_positions() -> None:
    assert append("order-1", [paid(1), paid(2)], expected_version=0) == 2
    assert append("order-2", [paid(3)]) == 1
    assert append("order-1", [paid(4)], expected_version=2) == 3
    events = read(after=0, types=["Paid"], limit=10)
    assert [(e.position, e.stream, e.version, e.data["amount"]) for e in events] == [
        (1, "order-1", 1, 1),
        (2, "order-1", 2, 2),
        (3, "order-2", 1, 3),
        (4, "order-1", 3, 4),
    ]
    assert [event.version for event in read_stream("order-1", after_version=1)] == [2, 3]


def test_events_of_other_types_are_seen_without_their_data() -> None:
    append("order-1", [NewEvent("Noted", {"text": "long"}), paid(5)])
    noted, paid_event = read(after=0, types=["Paid"], limit=10)
    assert (noted.type, noted.data, paid_event.data) == ("Noted", None, {"amount": 5})


def test_events_are_numbered_within_their_type() -> None:
    append("a", [paid(), NewEvent("Noted", {}), paid()])
    append("b", [NewEvent("Noted", {}), paid()])
    assert list(Event.objects.order_by("position").values_list("type", "type_no")) == [
        ("Paid", 1),
        ("Noted", 1),
        ("Paid", 2),
        ("Noted", 2),
        ("Paid", 3),
    ]
    assert dict(EventType.objects.values_list("name", "number")) == {"Paid": 3, "Noted": 2}


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_stream_at_another_version_refuses(expected: int) -> None:
    append("order-1", [paid(), paid()])
    with pytest.raises(VersionConflictError, match="is at version 2"):
        append("order-1", [paid()], expected_version=expected)
    assert (get_head(), positions()) == (2, [1, 2])


def test_an_event_id_is_appended_once_and_its_position_given_back() -> None:
    event = NewEvent("Paid", {}, event_id=uuid4())
    append("order-1", [event])
    with pytest.raises(DuplicateEventError):
        append("order-2", [event])
    append("order-2", [paid()])
    assert positions() == [1, 2]


def test_a_transaction_that_rolls_back_gives_its_positions_back() -> None:
    with transaction.atomic():
        append("order-1", [paid(), paid()])
        transaction.set_rollback(True)
    append("order-1", [paid()])
    assert positions() == [1]


def test_a_transaction_that_began_first_and_commits_last_has_the_last_position() -> None:
    """It has its transaction id before the other's; by ids it would come first, after readers had passed it."""
    began, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_xact_id()")
            began.set()
            assert go_on.wait(30)
            append("slow", [paid()])

    with thread(slow):
        assert began.wait(30)
        append("quick", [paid()])
        assert positions() == [1]
        go_on.set()
    assert [event.stream for event in read(after=0, types=[], limit=10)] == ["quick", "slow"]


def test_one_that_took_its_position_and_commits_late_keeps_the_others_behind_it() -> None:
    """Nobody can commit a higher position meanwhile, so a reader that sees nothing has missed nothing."""
    took, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        with transaction.atomic():
            append("slow", [paid()])
            took.set()
            assert go_on.wait(30)

    with thread(slow):
        assert took.wait(30)
        with thread(lambda: append("quick", [paid()]) and None) as quick:
            quick.join(0.3)
            assert quick.is_alive()
            assert positions() == []
            go_on.set()
    assert [event.stream for event in read(after=0, types=[], limit=10)] == ["slow", "quick"]


def test_a_time_is_found_by_bisection() -> None:
    for number in range(5):
        append("order-1", [paid(number), paid(number)])
    events = read(after=0, types=[], limit=10)
    assert find_position(events[3].recorded_at) == 4
    assert find_position(events[0].recorded_at.replace(year=2000)) == 0
    assert find_position(events[9].recorded_at.replace(year=2999)) == 10


@pytest.mark.parametrize("name", ["", "s" * 601, "é" * 301])
def test_a_stream_has_a_name_that_its_letters_can_keep(name: str) -> None:
    with pytest.raises(ValueError, match="A stream's name has 1 to 600 bytes"):
        append(name, [paid()])
    assert append(name[:300] or "s", [paid()]) == 1
