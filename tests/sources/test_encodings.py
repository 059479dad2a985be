"""Databases that hold their text in another encoding than UTF-8, as old ones do."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from dlq.models import DeadLetter
from sources.models import OwedWrite, SourceState
from tests.sources.foreign import EVENTSOURCE_PY, Foreign, foreign_database

pytestmark = pytest.mark.django_db(transaction=True)
Sync = Callable[..., SourceState]


@pytest.fixture
def make_old(settings: Any, transactional_db: None) -> Iterator[Callable[[str], Foreign]]:
    """A system whose database has this encoding, configured as the source `orders`."""
    made: list[Any] = []

    def make(encoding: str) -> Foreign:
        manager = foreign_database(EVENTSOURCE_PY, encoding=encoding)
        dsn = manager.__enter__()
        foreign = Foreign("eventsource-py", f"{dsn}&client_encoding=UTF8")
        made.append((manager, foreign))
        settings.SOURCES = {"orders": foreign.configuration | {"dsn": dsn}}
        return foreign

    yield make
    for manager, foreign in made:
        foreign.connection.close()
        manager.__exit__(None, None, None)


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_letters_come_and_go_whatever_the_encoding(
    make_old: Callable[[str], Foreign], sync: Sync, encoding: str
) -> None:
    foreign = make_old(encoding)
    [key] = foreign.add(error="Müller hat nichts bestellt")
    assert sync().error == ""
    letter = DeadLetter.objects.select_related("body").get()
    assert letter.body.error_message == "Müller hat nichts bestellt"
    DeadLetter.objects.update(status="resolved", closed_by="jürgen", closed_at=timezone.now())
    assert sync().error == ""
    assert foreign.get_status(key) == ("resolved", "jürgen")


# KOI8R is unknown to Python under this name, and is taken for ASCII.
@pytest.mark.parametrize(
    ("encoding", "name", "written"),
    [
        ("LATIN1", "łukasz müller", r"\u0142ukasz müller"),
        ("WIN1252", "łukasz müller €", r"\u0142ukasz müller €"),
        ("KOI8R", "łukasz", r"\u0142ukasz"),
        ("LATIN1", "ł" * 150, (r"\u0142" * 150)[:255]),
    ],
)
def test_a_name_that_it_cannot_hold_is_written_with_the_numbers_of_what_it_has_not(
    make_old: Callable[[str], Foreign], sync: Sync, encoding: str, name: str, written: str
) -> None:
    foreign = make_old(encoding)
    keys = foreign.add(2)
    sync()
    for key, by in zip(keys, (name, "alice"), strict=True):
        DeadLetter.objects.filter(source_key=key).update(
            status="resolved", closed_by=by, closed_at=timezone.now()
        )
    foreign.add()
    assert sync().error == ""
    assert [foreign.get_status(key) for key in keys] == [("resolved", written), ("resolved", "alice")]
    assert (DeadLetter.objects.count(), OwedWrite.objects.count()) == (3, 0)
    # Here it stays as it is.
    assert set(DeadLetter.objects.exclude(closed_by="").values_list("closed_by", flat=True)) == {
        name,
        "alice",
    }


def test_text_that_nobody_can_read_is_told(make_old: Callable[[str], Foreign], sync: Sync) -> None:
    foreign = make_old("SQL_ASCII")
    foreign.add()
    foreign.execute(r"UPDATE dead_letter_queue SET error_message = convert_from('\xfc', 'SQL_ASCII')")
    assert sync().error == 'It failed: invalid byte sequence for encoding "UTF8": 0xfc'
