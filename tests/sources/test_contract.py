"""What every source must do, whatever its tables are: presets, a home-made table, and our own consumers."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from dlq.models import DeadLetter
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


def get_letter(key: str, source: str = "orders") -> DeadLetter:
    return DeadLetter.objects.select_related("body").get(source=source, source_key=key)


def test_failures_become_letters_and_the_same_twice_is_one(
    anyone: Foreign | Native, look: Callable[[], None]
) -> None:
    keys = anyone.add(3)
    look()
    letters = [get_letter(key, anyone.source) for key in keys]
    assert [letter.sequence_key for letter in letters] == ["order-0", "order-1", "order-2"]
    assert {(letter.consumer, letter.event_type, letter.attempts) for letter in letters} == {
        ("OrderSummary", "OrderPlaced", 3)
    }
    assert letters[1].body.payload["total"] == -1
    assert letters[1].body.error_message == "negative total -1.5"
    if isinstance(anyone, Native):
        # Whoever reports may not know whether the first report came through.
        anyone.add(3)
    look()
    assert DeadLetter.objects.count() == 3
    assert set(DeadLetter.objects.values_list("attempts", flat=True)) == {3}
    assert not OwedWrite.objects.exists()


def test_it_says_what_can_be_done_with_it(foreign: Foreign, sync: Sync) -> None:
    why_not = sync().inspection["why_not"]
    assert (why_not["reads_letters"], why_not["writes_status"]) == ("", "")
    assert why_not["reads_checkpoints"] == {
        "eventsource-py": "There are no tables projection_checkpoints and events in this database.",
        "platform-services": "Its projections keep no checkpoint.",
    }.get(foreign.kind, "The mapping describes letters and no checkpoints.")
    foreign.execute(f"ALTER TABLE {foreign.table} RENAME COLUMN {foreign.status} TO renamed")
    try:
        assert foreign.status in sync().error
    finally:
        foreign.execute(f"ALTER TABLE {foreign.table} RENAME COLUMN renamed TO {foreign.status}")


def test_what_is_closed_here_says_by_whom_and_when(
    anyone: Foreign | Native, look: Callable[[], None], do: Callable[..., None]
) -> None:
    keys = anyone.add(3)
    look()
    began_at = timezone.now()
    do("resolve", get_letter(keys[0], anyone.source))
    do("discard", get_letter(keys[1], anyone.source))
    look()
    look()
    letters = [get_letter(key, anyone.source) for key in keys]
    assert [(letter.status, letter.resolution, letter.closed_by) for letter in letters] == [
        ("resolved", "by_hand", "alice"),
        ("discarded", "discarded", "alice"),
        ("failed", "", ""),
    ]
    assert [bool(letter.closed_at and letter.closed_at > began_at) for letter in letters] == [
        True,
        True,
        False,
    ]


def test_what_is_closed_here_is_closed_there_in_its_own_words(
    foreign: Foreign, sync: Sync, do: Callable[..., None]
) -> None:
    keys = foreign.add(3)
    sync()
    do("resolve", get_letter(keys[0]))
    do("discard", get_letter(keys[1]))
    sync()
    by = None if foreign.kind == "platform-services" else "alice"
    assert foreign.get_status(keys[0]) == (foreign.words["resolved"], by)
    assert foreign.get_status(keys[1]) == (foreign.words["discarded"], by)
    assert foreign.get_status(keys[2])[0] == foreign.words["open"]
    assert not OwedWrite.objects.exists()


def test_what_is_restored_here_is_open_again(
    anyone: Foreign | Native, look: Callable[[], None], do: Callable[..., None]
) -> None:
    [key] = anyone.add()
    look()
    for verb in ("resolve", "restore"):
        do(verb, get_letter(key, anyone.source))
        look()
    if isinstance(anyone, Foreign):
        assert anyone.get_status(key) == (anyone.words["open"], None)
        look()
    letter = get_letter(key, anyone.source)
    assert (letter.status, letter.closed_by, letter.closed_at) == ("failed", "", None)


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


def test_a_failure_after_it_was_resolved_opens_it_again(
    anyone: Foreign | Native, look: Callable[[], None], do: Callable[..., None]
) -> None:
    [key] = anyone.add()
    look()
    do("resolve", get_letter(key, anyone.source))
    look()
    anyone.fail_again(key)
    look()
    letter = get_letter(key, anyone.source)
    assert (letter.status, letter.attempts, letter.body.error_message) == ("failed", 4, "still negative")
    # The name of who resolved it may have stayed behind there; it means nothing for an open row.
    assert (letter.closed_by, letter.closed_at) == ("", None)
    assert not OwedWrite.objects.exists()
    if isinstance(anyone, Foreign):
        assert anyone.get_status(key)[0] == anyone.words["open"]


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
