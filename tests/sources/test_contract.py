"""What every source must do, whatever its tables are: presets, a home-made table, and our own consumers."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from dlq.models import DeadLetter
from dlq.operations import handle_letters
from dlq.selection import Selection, newest_id
from dlq.verbs import VERBS
from sources.models import ForeignRow, MovedRow, OwedWrite, SourceState
from tests.sources.conftest import KINDS
from tests.sources.foreign import Foreign, Native

pytestmark = pytest.mark.django_db
Sync = Callable[..., SourceState]


@pytest.fixture(params=KINDS)
def foreign(request: pytest.FixtureRequest, make_foreign: Callable[..., Foreign]) -> Foreign:
    return make_foreign(request.param)


@pytest.fixture(params=[*KINDS, "native"])
def anyone(request: pytest.FixtureRequest, make_foreign: Callable[..., Foreign]) -> Foreign | Native:
    """Every source, our own consumers among them."""
    return Native() if request.param == "native" else make_foreign(request.param)


@pytest.fixture
def look(sync: Sync, settings: Any) -> Callable[[], None]:
    """A look at the source; our own needs none."""

    def look() -> None:
        if settings.SOURCES:
            assert sync().error == ""

    return look


@pytest.fixture
def do(make_user: Callable[..., User]) -> Callable[..., None]:
    def do(verb: str, *letters: DeadLetter) -> None:
        chosen = DeadLetter.objects.filter(pk__in=[letter.pk for letter in letters])
        selection = Selection(chosen, newest_id(), is_by_hand=True, description={})
        who = User.objects.filter(username="alice").first() or make_user("alice", role="admin")
        handle_letters(
            VERBS[verb], selection, confirmed=len(letters), actor=who, request_key=uuid4(), reason="tests"
        )

    return do


def get_letter(key: str) -> DeadLetter:
    return DeadLetter.objects.select_related("body").get(source="orders", source_key=key)


def test_rows_become_letters(anyone: Foreign | Native, look: Callable[[], None]) -> None:
    keys = anyone.add(3)
    look()
    letters = [get_letter(key) for key in keys]
    assert [letter.sequence_key for letter in letters] == ["order-0", "order-1", "order-2"]
    assert {(letter.consumer, letter.event_type, letter.attempts) for letter in letters} == {
        ("OrderSummary", "OrderPlaced", 3)
    }
    assert letters[1].body.payload["total"] == -1
    assert letters[1].body.error_message == "negative total -1.5"
    look()
    assert DeadLetter.objects.count() == 3
    assert not OwedWrite.objects.exists()


def test_what_is_closed_here_is_closed_there_in_its_own_words(
    anyone: Foreign | Native, look: Callable[[], None], do: Callable[..., None]
) -> None:
    keys = anyone.add(3)
    look()
    do("resolve", get_letter(keys[0]))
    do("discard", get_letter(keys[1]))
    look()
    by = None if anyone.kind == "platform-services" else "alice"
    assert anyone.get_status(keys[0]) == (anyone.words["resolved"], by)
    assert anyone.get_status(keys[1]) == (anyone.words["discarded"], by)
    assert anyone.get_status(keys[2])[0] == anyone.words["open"]
    assert not OwedWrite.objects.exists()
    look()
    assert [get_letter(key).status for key in keys] == ["resolved", "discarded", "failed"]


def test_what_is_restored_here_is_open_there_again(
    anyone: Foreign | Native, look: Callable[[], None], do: Callable[..., None]
) -> None:
    [key] = anyone.add()
    look()
    do("resolve", get_letter(key))
    look()
    do("restore", get_letter(key))
    look()
    assert anyone.get_status(key) == (anyone.words["open"], None)
    look()
    assert get_letter(key).status == "failed"


def test_what_is_closed_there_is_closed_here_as_resolved_at_source(foreign: Foreign, sync: Sync) -> None:
    keys = foreign.add(3)
    sync()
    foreign.set_status(keys[0], foreign.words["resolved"])
    foreign.delete(keys[1])
    sync()
    letters = [get_letter(key) for key in keys]
    assert [(letter.status, letter.resolution) for letter in letters] == [
        ("resolved", "at_source"),
        ("resolved", "at_source"),
        ("failed", ""),
    ]
    assert letters[1].close_reason == "The row is gone from orders."
    assert not OwedWrite.objects.exists()


def test_a_failure_after_it_was_resolved_opens_both_sides(
    anyone: Foreign | Native, look: Callable[[], None], do: Callable[..., None]
) -> None:
    [key] = anyone.add()
    look()
    do("resolve", get_letter(key))
    look()
    anyone.fail_again(key)
    look()
    letter = get_letter(key)
    assert (letter.status, letter.attempts, letter.body.error_message) == ("failed", 4, "still negative")
    assert anyone.get_status(key)[0] == anyone.words["open"]
    assert not OwedWrite.objects.exists()
    # The name of who resolved it has stayed behind there; it means nothing for an open row.
    assert (letter.closed_by, letter.closed_at) == ("", None)


def test_a_row_that_moved_meanwhile_is_reported_and_not_overwritten(
    foreign: Foreign, sync: Sync, do: Callable[..., None]
) -> None:
    [key] = foreign.add()
    sync()
    do("resolve", get_letter(key))
    foreign.fail_again(key)
    sync()
    assert foreign.get_status(key)[0] == foreign.words["open"]
    assert get_letter(key).status == "failed"
    moved = MovedRow.objects.get()
    assert (moved.key, moved.actor, moved.wanted) == (key, "alice", foreign.words["resolved"])
    sync()
    assert MovedRow.objects.count() == 1


def test_a_write_that_was_done_and_not_recorded_is_taken_for_done(
    foreign: Foreign, sync: Sync, do: Callable[..., None]
) -> None:
    """As after a death between the commit there and the commit here."""
    [key] = foreign.add()
    sync()
    row, owed_before = ForeignRow.objects.get(), OwedWrite.objects.count()
    do("resolve", get_letter(key))
    letter_id = get_letter(key).pk
    sync()
    ForeignRow.objects.filter(source="orders", key=key).update(status=row.status, is_open=True)
    OwedWrite.objects.create(source="orders", letter_id=letter_id)
    sync()
    assert (owed_before, OwedWrite.objects.count(), MovedRow.objects.count()) == (0, 0, 0)
    assert get_letter(key).status == "resolved"
    assert not ForeignRow.objects.get().is_open
