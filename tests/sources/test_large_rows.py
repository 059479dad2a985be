"""Rows that hold much are read in parts: a thousand of a megabyte each would be too much at once."""

import random
import string
from collections.abc import Callable
from typing import Any

import pytest

from dashboard.models import Lane, Run
from dashboard.runs.worker import run_lane
from dlq.models import DeadLetter
from sources.models import SourceState
from sources.registry import get_source
from sources.sql import letters
from sources.sync import importing
from tests.sources.foreign import Foreign

pytestmark = pytest.mark.django_db
Sync = Callable[..., SourceState]


@pytest.fixture(params=["platform-services", "sql", "bytea"])
def large(
    request: pytest.FixtureRequest, make_foreign: Callable[..., Foreign], monkeypatch: pytest.MonkeyPatch
) -> tuple[Foreign, list[str]]:
    """Eight rows, of which three may be read at once, and one that is larger than all of these."""
    monkeypatch.setattr(letters, "MOST_BYTES", 18_000)
    foreign, chance = make_foreign(request.param), random.Random(1)

    def add(size: int) -> str:
        return foreign.add_one(error="".join(chance.choices(string.ascii_letters, k=size)))

    return foreign, [*(add(5_000) for _ in range(4)), add(40_000), *(add(5_000) for _ in range(4))]


def test_as_many_are_read_as_fit_and_one_that_never_does(large: tuple[Foreign, list[str]]) -> None:
    _, keys = large
    with get_source("orders").visit() as visit:
        assert visit.letters
        read: list[list[str]] = []
        while rows := visit.letters.read_open(after=read[-1][-1] if read else "", limit=1000):
            read.append([row.key for row in rows])
        assert [len(some) for some in read] == [3, 1, 1, 3, 1]
        assert [key for some in read for key in some] == keys
        parts = list(visit.letters.read(keys, limit=2))
        assert [len(some) for some in parts] == [2, 2, 1, 2, 2]


def test_all_of_them_come_and_open_again(large: tuple[Foreign, list[str]], sync: Sync) -> None:
    foreign, keys = large
    for status, number in (("open", 9), ("resolved", 0), ("open", 9)):
        for key in keys:
            foreign.set_status(key, foreign.words[status])
        assert sync().error == ""
        assert DeadLetter.objects.filter(status="failed").count() == number


@pytest.mark.django_db(transaction=True)
def test_all_of_them_are_imported(large: tuple[Foreign, list[str]], sync: Sync, monkeypatch: Any) -> None:
    _, keys = large
    monkeypatch.setattr(importing, "IMPORT_ABOVE", 5)
    sync()
    for lane in Lane.objects.filter(run=Run.objects.get()):
        run_lane(lane.run_id, lane.number, lane.epoch)
    assert DeadLetter.objects.count() == len(keys)
    assert not Lane.objects.filter(is_done=False).exists()
