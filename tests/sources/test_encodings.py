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


def test_a_name_that_it_cannot_hold_is_told_and_keeps_nothing_from_being_read(
    make_old: Callable[[str], Foreign], sync: Sync
) -> None:
    foreign = make_old("LATIN1")
    foreign.add()
    sync()
    DeadLetter.objects.update(status="resolved", closed_by="łukasz", closed_at=timezone.now())
    foreign.add()
    assert 'has no equivalent in encoding "LATIN1"' in sync().error
    assert (DeadLetter.objects.count(), OwedWrite.objects.count()) == (2, 1)


def test_text_that_nobody_can_read_is_told(make_old: Callable[[str], Foreign], sync: Sync) -> None:
    foreign = make_old("SQL_ASCII")
    foreign.add()
    foreign.execute(r"UPDATE dead_letter_queue SET error_message = convert_from('\xfc', 'SQL_ASCII')")
    assert sync().error == 'It failed: invalid byte sequence for encoding "UTF8": 0xfc'
