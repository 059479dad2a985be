"""What the sources' pages say in states that come seldom: an import on its way, rows that moved, much that is owed."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.memo import forget_all
from dashboard.models import Run
from dashboard.runs.operations import cancel_run, pause_run
from dlq.models import DeadLetter
from sources import orphans, queries
from sources.models import MovedRow, OwedRelease, SourceState
from sources.needs import find_moved
from sources.sync import importing
from tests.markup import read_html
from tests.sources.foreign import Foreign
from tests.sources.keepers import EventsourcePy, keeping
from tests.sources.stranded import Sync, release, strand

pytestmark = pytest.mark.django_db
NOWHERE = "postgresql://127.0.0.1:1/x"
CONFIRM, RELEASE = "/sources/orders/release/confirm/", "/sources/orders/release/"


def read(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    return read_html(answer)


def test_both_pages_follow_a_first_import_until_it_is_cancelled(
    foreign: Foreign, sync: Sync, operator: Client, viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "IMPORT_ABOVE", 2)
    foreign.add(5)
    sync()
    run = Run.objects.get()
    link = f'href="/runs/{run.pk}/"'
    for address in ("/sources/", "/sources/orders/"):
        page = read(viewer, address)
        assert "orders is being imported" in page
        assert "Its rows are read for the first time; new ones come in meanwhile." in page
        assert link in page
    pause_run(run, actor="alice")
    for address in ("/sources/", "/sources/orders/"):
        page = read(viewer, address)
        assert "Import paused" in page
        assert "Its first import is paused; only new rows come in." in page
        assert link in page
    cancel_run(Run.objects.get(), actor="alice", reason="the wrong table")
    for address in ("/sources/", "/sources/orders/"):
        page = read(operator, address)
        assert "orders is not complete" in page
        assert "Its first import was cancelled: rows from before are missing." in page
        assert link in page
    assert "Import what is missing" in read(operator, "/sources/orders/")
    answer = read_html(operator.post("/sources/orders/import/", follow=True))
    assert "The next look imports what is missing from orders." in answer
    assert "orders is behind" in answer
    # Its last look was a moment ago, and its rows are still to be read.
    assert "<dt>Delay</dt><dd>unknown</dd>" in answer


def test_a_source_with_which_everything_can_be_done_leads_to_its_projections(
    sync: Sync, viewer: Client, settings: Any
) -> None:
    with keeping(EventsourcePy) as keeper:
        settings.SOURCES = {"orders": keeper.configuration}
        keeper.save(keeper.append())
        assert sync().error == ""
    row = queries.get_row("orders")
    assert row.missing == []
    assert re.search(r'"Not possible"[^>]*>–\s*</td>', read(viewer, "/sources/"))
    page = read(viewer, "/sources/orders/")
    assert 'href="/projections/">See its projections</a>' in page
    assert page.count('<span class="badge good">yes</span>') == len(queries.CAPABILITIES)


def test_many_sources_are_counted_and_so_are_those_that_need_somebody(
    make_foreign: Callable[..., Foreign], sync: Sync, viewer: Client, settings: Any
) -> None:
    make_foreign("sql", "billing")
    make_foreign("eventsource-py", "orders")
    sync("billing")
    sync("orders")
    assert "2 sources are read" in read(viewer, "/sources/")
    settings.SOURCES = {name: given | {"dsn": NOWHERE} for name, given in settings.SOURCES.items()}
    for name in ("billing", "orders"):
        assert sync(name).error.startswith("It cannot be reached")
    # Every page says so when it has lasted for a while.
    SourceState.objects.update(failing_since=timezone.now() - timedelta(minutes=2))
    page = read(viewer, "/sources/")
    assert "2 sources need you" in page
    assert page.count("; it is tried again by itself.") == 2


def test_rows_that_moved_before_they_could_be_written_are_listed_with_what_was_found(
    foreign: Foreign, sync: Sync, viewer: Client
) -> None:
    done, gone = strand(foreign, sync, 2)
    release(2)
    foreign.set_status(done, foreign.words["resolved"])
    foreign.delete(gone)
    sync()
    page = read(viewer, "/sources/orders/")
    assert "Rows that moved before they could be written" in page
    assert sorted(re.findall(r'"Found"[^>]*>(\w+)</td>', page)) == ["gone", "resolved"]
    letter = DeadLetter.objects.get(source_key=done)
    assert f'href="/dead-letters/letters/{letter.pk}/"' in page


def test_more_that_is_owed_than_is_counted_has_a_plus(
    foreign: Foreign, sync: Sync, viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MOST_COUNTED", 2)
    strand(foreign, sync, 3)
    release(3)
    assert OwedRelease.objects.count() == 3
    assert "<dt>To be written back</dt><dd>2+</dd>" in read(viewer, "/sources/orders/")
    assert ">2+</td>" in read(viewer, "/sources/")


def test_a_source_that_takes_no_writes_says_why_instead_of_releasing(
    foreign: Foreign, sync: Sync, operator: Client
) -> None:
    strand(foreign, sync)
    state = SourceState.objects.get()
    state.inspection["why_not"]["writes_status"] = "The role may not."
    state.save()
    forget_all()
    assert "It cannot be released from here. The role may not." in read(operator, "/sources/orders/")
    page = read(operator, CONFIRM)
    assert "Nothing can be released" in page
    assert "Nothing can be written to orders. The role may not." in page
    assert "Say why" not in page
    fields = {
        "count": "1",
        "until": state.synced_at.isoformat() if state.synced_at else "",
        "reason": "a crash",
    }
    answer = operator.post(RELEASE, fields)
    assert answer.status_code == 409
    assert read_html(answer).count("The role may not.") == 1
    assert not OwedRelease.objects.exists()


def test_where_nothing_waits_there_is_nothing_to_release(
    foreign: Foreign, sync: Sync, operator: Client
) -> None:
    foreign.add()
    sync()
    page = read(operator, CONFIRM)
    assert "Nothing to release" in page
    assert "No row of orders has said <code>retrying</code> for over 15&nbsp;min." in page


def test_before_the_first_look_no_row_is_known_to_wait(foreign: Foreign, operator: Client) -> None:
    assert "No row of orders is known to wait for another try." in read(operator, CONFIRM)


def test_of_more_than_are_released_at_once_the_longest_waiting_come_first(
    foreign: Foreign, sync: Sync, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orphans, "MOST", 2)
    strand(foreign, sync, 3)
    page = read(operator, CONFIRM)
    assert "Over 2 rows have said <code>retrying</code> for over 15&nbsp;min" in page
    assert "These 2 have waited longest." in page


def test_a_reason_that_is_too_long_is_told_how_long_it_may_be(
    foreign: Foreign, sync: Sync, operator: Client
) -> None:
    strand(foreign, sync)
    fields = {"count": "1", "until": "2026-11-16T00:00Z", "reason": "x" * 501}
    answer = operator.post(RELEASE, fields)
    assert answer.status_code == 400
    assert "A reason can have at most 500 characters; this one has 501." in read_html(answer)


def test_many_rows_of_one_source_that_moved_hide_none_of_another(settings: Any) -> None:
    settings.SOURCES = {
        name: {"kind": "eventsource-py", "dsn": NOWHERE} for name in ("busy", "quiet", "still")
    }
    moved = {"letter_id": 1, "actor": "alice", "wanted": "resolved", "found": "failed", "at": timezone.now()}
    for name, number in (("busy", 1200), ("quiet", 1), ("still", 0)):
        SourceState.objects.create(name=name, kind="eventsource-py")
        MovedRow.objects.bulk_create(MovedRow(source=name, key=str(n), **moved) for n in range(number))
    assert [need.headline for need in find_moved()] == [
        "Rows of busy moved before they could be written",
        "Rows of quiet moved before they could be written",
    ]
