"""Rows that nobody tries are released as confirmed, and those that somebody does are left to them."""

from collections.abc import Callable
from datetime import timedelta
from threading import Thread

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from dashboard.memo import forget_all
from dashboard.models import AuditEntry
from dlq.models import DeadLetter
from sources import orphans
from sources.models import ForeignRow, MovedRow, OwedRelease, SourceState
from sources.operations import SourceRefused
from sources.orphans import find_orphans
from sources.retrying import ask_to_retry
from tests.sources.foreign import Foreign
from tests.sources.stranded import Sync, count, release, strand
from tests.wait import count_waiting, until

pytestmark = pytest.mark.django_db
CONFIRM, RELEASE = "/sources/orders/release/confirm/", "/sources/orders/release/"


@pytest.fixture(params=["eventsource-py", "sql"])
def foreign(request: pytest.FixtureRequest, make_foreign: Callable[..., Foreign]) -> Foreign:
    return make_foreign(request.param)


def test_an_operator_releases_exactly_what_was_confirmed(
    foreign: Foreign, sync: Sync, operator: Client
) -> None:
    keys = strand(foreign, sync, 3)
    [fresh] = foreign.add()
    foreign.set_status(fresh, foreign.words["retry"])
    sync()
    page = operator.get("/sources/orders/").content.decode()
    word = foreign.words["retry"]
    assert f"3 rows have said <code>{word}</code> for over 15&nbsp;min; nobody seems to try them." in page
    assert f"Releasing them writes <code>{foreign.words['open']}</code> there again." in page
    assert "Nobody seems to try 3 rows of orders" in operator.get("/").content.decode()
    confirm = operator.get(CONFIRM)
    assert "Release 3 rows of orders?" in confirm.content.decode()
    fields = {"count": "3", "until": timezone.now().isoformat(), "reason": "the worker crashed"}
    answer = operator.post(RELEASE, fields, follow=True).content.decode()
    assert "3 rows of orders will be released by the next look." in answer
    assert "nobody seems to try" not in answer
    assert OwedRelease.objects.count() == 3
    sync()
    assert {foreign.get_status(key)[0] for key in keys} == {foreign.words["open"]}
    assert foreign.get_status(fresh)[0] == word
    assert not OwedRelease.objects.exists()
    assert not MovedRow.objects.exists()
    assert set(ForeignRow.objects.exclude(key=fresh).values_list("status", "retrying_since")) == {
        (foreign.words["open"], None)
    }
    assert DeadLetter.objects.filter(status="failed").count() == 4


def test_it_rejects_get(foreign: Foreign, operator: Client) -> None:
    assert operator.get(RELEASE).status_code == 405


def test_a_viewer_may_not(foreign: Foreign, sync: Sync, viewer: Client) -> None:
    strand(foreign, sync)
    page = viewer.get("/sources/orders/").content.decode()
    assert "Release…" not in page
    assert "An operator can release it." in page
    assert viewer.get(CONFIRM).status_code == 403
    assert viewer.post(RELEASE, {"count": "1"}).status_code == 403
    assert not OwedRelease.objects.exists()


def test_twice_is_once(foreign: Foreign, sync: Sync) -> None:
    strand(foreign, sync)
    at = timezone.now()
    release(1, at)
    with pytest.raises(SourceRefused, match="1 row was confirmed, and 0 still stand so"):
        release(1, at)
    assert OwedRelease.objects.count() == 1


def test_it_is_audited(foreign: Foreign, sync: Sync) -> None:
    strand(foreign, sync)
    release(1)
    entry = AuditEntry.objects.get(action="source.release")
    assert (entry.actor, entry.subject, entry.reason) == ("alice", "orders", "a crash")
    assert entry.details == {"count": 1, "from": foreign.words["retry"], "to": foreign.words["open"]}


@pytest.mark.parametrize(
    ("fields", "status", "sentence"),
    [
        ({"reason": ""}, 400, "Say why"),
        ({"count": "many"}, 400, "count: the number of rows that were confirmed, a whole number from 1."),
        ({"until": "noon"}, 400, "until: when they were counted, a time such as"),
        ({"count": "2"}, 409, "2 rows were confirmed, and 1 still stands so; look again."),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(
    make_foreign: Callable[..., Foreign],
    sync: Sync,
    operator: Client,
    fields: dict[str, str],
    status: int,
    sentence: str,
) -> None:
    strand(make_foreign(), sync)
    good = {"count": "1", "until": timezone.now().isoformat(), "reason": "a crash"}
    answer = operator.post(RELEASE, good | fields)
    assert answer.status_code == status
    assert sentence in answer.content.decode()
    assert not OwedRelease.objects.exists()


def test_a_row_that_moved_meanwhile_is_told_and_not_overwritten(foreign: Foreign, sync: Sync) -> None:
    done, gone, tried = strand(foreign, sync, 3)
    release(3)
    foreign.set_status(done, foreign.words["resolved"])
    foreign.delete(gone)
    foreign.fail_again(tried)
    sync()
    assert foreign.get_status(done)[0] == foreign.words["resolved"]
    moved = {row.key: (row.actor, row.wanted, row.found) for row in MovedRow.objects.all()}
    wanted = foreign.words["open"]
    # The third says what was wanted: it was tried, and failed again.
    assert moved == {done: ("alice", wanted, foreign.words["resolved"]), gone: ("alice", wanted, "")}
    assert DeadLetter.objects.get(source_key=tried).attempts == 4
    assert DeadLetter.objects.get(source_key=done).status == "resolved"


def test_a_release_that_was_written_and_not_recorded_is_taken_for_done(foreign: Foreign, sync: Sync) -> None:
    """As after a death between the commit there and the commit here."""
    [key] = strand(foreign, sync)
    release(1)
    foreign.set_status(key, foreign.words["open"])
    sync()
    sync()
    assert not OwedRelease.objects.exists()
    assert not MovedRow.objects.exists()
    row = ForeignRow.objects.get()
    assert (row.status, row.retrying_since) == (foreign.words["open"], None)


def test_a_row_that_is_asked_for_after_it_was_released_is_left_to_who_asked(
    foreign: Foreign, sync: Sync
) -> None:
    [key] = strand(foreign, sync)
    release(1)
    ask_to_retry("orders", DeadLetter.objects.get().pk)
    sync()
    assert foreign.get_status(key)[0] == foreign.words["retry"]
    assert [row.found for row in MovedRow.objects.all()] == [foreign.words["retry"]]


@pytest.mark.django_db(transaction=True)
def test_who_asks_for_a_row_that_is_being_released_waits(foreign: Foreign, sync: Sync) -> None:
    [key] = strand(foreign, sync)
    release(1)
    letter_id = DeadLetter.objects.get().pk

    # The look waits there, with the row locked here.
    with foreign.delaying(sync):
        asks = Thread(target=lambda: (ask_to_retry("orders", letter_id), connection.close()))
        asks.start()
        until(lambda: count_waiting() == 1)
    asks.join()
    assert foreign.get_status(key)[0] == foreign.words["retry"]
    sync()
    assert (ForeignRow.objects.get().status, MovedRow.objects.count()) == (foreign.words["retry"], 0)


def test_a_source_that_takes_no_writes_releases_nothing(
    foreign: Foreign, sync: Sync, operator: Client
) -> None:
    strand(foreign, sync)
    state = SourceState.objects.get()
    state.inspection["why_not"]["writes_status"] = "The role may not."
    state.save()
    forget_all()
    assert "Release…" not in operator.get("/sources/orders/").content.decode()
    with pytest.raises(SourceRefused, match="The role may not"):
        release(1)


def test_of_many_the_longest_waiting_are_released_first(
    make_foreign: Callable[..., Foreign], sync: Sync, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orphans, "MOST", 2)
    keys = strand(make_foreign(), sync, 3)
    ForeignRow.objects.filter(key=keys[1]).update(retrying_since=timezone.now() - timedelta(hours=2))
    found = find_orphans("orders")
    assert found is not None
    assert (found.count, found.rows[0].key, found.label) == (2, keys[1], "over 2 rows")
    release(2)
    sync()
    assert count() == 1
