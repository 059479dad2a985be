"""A source that is stopped, slow, changed or closed to us: the reason is shown, and it mends itself."""

import re
import socket
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.test import Client
from django.utils import timezone

from dashboard.attention import list_attention
from dlq.api import Failure, record_failures
from dlq.models import DeadLetter
from sources import connect as connecting
from sources.base import SourceError
from sources.connect import connect, reading
from sources.models import OwedWrite, SourceState
from tests.processes import OwnPostgres
from tests.sources.foreign import DDL, Foreign

pytestmark = pytest.mark.django_db
Sync = Callable[..., SourceState]


@pytest.fixture
def role(foreign: Foreign, settings: Any) -> Iterator[str]:
    """A role that may only read and write the status, as docs/sources.md grants it; the source is read as this."""
    # Roles belong to the server, which other tests use at the same time.
    name = f"reader_{uuid4().hex}"
    foreign.execute(f"CREATE ROLE {name} LOGIN")
    foreign.execute(f"GRANT SELECT ON dead_letter_queue TO {name}")
    foreign.execute(f"GRANT UPDATE (status, resolved_at, resolved_by) ON dead_letter_queue TO {name}")
    dsn = re.sub(r"//[^@]*@", f"//{name}@", foreign.dsn)
    settings.SOURCES = {"orders": foreign.configuration | {"dsn": dsn}}
    yield name
    foreign.execute(f"DROP OWNED BY {name}")
    foreign.execute(f"DROP ROLE {name}")


def test_a_stopped_database_is_named_and_found_again(
    tmp_path: Path, settings: Any, sync: Sync, viewer: Client
) -> None:
    server = OwnPostgres(tmp_path)
    try:
        with psycopg.connect(server.url, autocommit=True) as made:
            made.execute(DDL["eventsource-py"])
        settings.SOURCES = {"orders": {"kind": "eventsource-py", "dsn": server.url}}
        add(server.url, 2)
        assert sync().error == ""
        with psycopg.connect(server.url, autocommit=True) as asked:
            # The tests' servers are in a hurry: a crash would lose what they have just promised.
            asked.execute("CHECKPOINT")
        server.crash()
        state = sync()
        assert state.error.startswith("It cannot be reached: ")
        assert (state.is_permanent, state.error_count) == (False, 1)
        assert state.failing_since is not None
        assert state.synced_at is not None
        page = viewer.get("/sources/").content.decode()
        assert "orders does not answer" in page or "no answer" in page
        assert "cannot be reached" in page
        server.start()
        add(server.url, 1)
        state = sync()
        assert (state.error, state.failing_since, state.error_count) == ("", None, 0)
        assert DeadLetter.objects.count() == 3
    finally:
        server.close()


def add(dsn: str, number: int) -> None:
    foreign = Foreign("eventsource-py", dsn)
    foreign.add(number)
    foreign.connection.close()


@pytest.mark.parametrize(("part", "wrong"), [(r"//[^@]*@", "//stranger@"), (r"/foreign_\w+", "/elsewhere")])
def test_one_that_answers_and_lets_nobody_in_says_that_somebody_must_act(
    foreign: Foreign, sync: Sync, settings: Any, part: str, wrong: str
) -> None:
    settings.SOURCES = {"orders": foreign.configuration | {"dsn": re.sub(part, wrong, foreign.dsn)}}
    state = sync()
    assert state.error.startswith("It refuses: connection to server")
    assert state.error.endswith("does not exist")
    assert state.is_permanent


def test_a_source_that_takes_a_minute_for_a_statement_is_given_up_in_time(
    make_foreign: Callable[..., Foreign], sync: Sync, settings: Any
) -> None:
    foreign = make_foreign(timeout_seconds=0.3)
    foreign.add(2)
    foreign.execute("ALTER TABLE dead_letter_queue RENAME TO real_queue")
    foreign.execute("CREATE VIEW dead_letter_queue AS SELECT q.* FROM real_queue q, pg_sleep(60)")
    try:
        state = sync()
        assert state.error == "A statement took too long and was given up."
        assert not state.is_permanent
    finally:
        foreign.execute("DROP VIEW dead_letter_queue")
        foreign.execute("ALTER TABLE real_queue RENAME TO dead_letter_queue")
    assert sync().error == ""
    assert DeadLetter.objects.count() == 2


def test_a_server_that_hangs_in_the_middle_of_a_visit_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps no limit that it was given. A first import, which has none of its own, would wait for ever."""
    monkeypatch.setattr(connecting, "HANGING_SECONDS", 0.2)
    server = OwnPostgres(tmp_path)
    try:
        with connect(server.url) as connection:
            with reading(connection, seconds=0.3) as cursor:
                cursor.execute("SELECT 1")
            with (
                server.hanging(),
                pytest.raises(SourceError, match=r"^It cannot be reached: no answer for 0\.5 s$"),
                reading(connection, seconds=0.3) as cursor,
            ):
                cursor.execute("SELECT 1")
    finally:
        server.close()


def test_a_renamed_column_is_named_and_what_is_known_stays(
    foreign: Foreign, sync: Sync, viewer: Client
) -> None:
    foreign.add(2)
    sync()
    foreign.execute("ALTER TABLE dead_letter_queue RENAME last_failed_at TO failed_last")
    try:
        state = sync()
        assert 'column "last_failed_at" does not exist' in state.error
        # The second look looks at the schema first, and says what there is instead.
        state = sync()
        assert state.error.startswith("dead_letter_queue has no column last_failed_at; it has id, event_id,")
        assert state.is_permanent
        assert any(need.headline == "orders cannot be read" for need in list_attention())
        page = viewer.get("/sources/orders/").content.decode()
        assert page.count("has no column last_failed_at") == 2
        assert "For the same reason." in page
        # It is the table that changed, and not what the role may do.
        assert "may do nothing" not in page
        assert DeadLetter.objects.filter(status="failed").count() == 2
    finally:
        foreign.execute("ALTER TABLE dead_letter_queue RENAME failed_last TO last_failed_at")
    assert sync().error == ""
    assert not [need for need in list_attention() if need.headline.startswith("orders ")]


def test_a_role_that_may_no_longer_read_is_told_which_grant_it_needs(
    foreign: Foreign, role: str, sync: Sync
) -> None:
    foreign.add(1)
    assert sync().error == ""
    foreign.execute(f"REVOKE ALL ON dead_letter_queue FROM {role}")
    sync()
    state = sync()
    assert state.error == (
        f"The role {role} may not read dead_letter_queue: GRANT SELECT ON dead_letter_queue TO {role};"
    )
    foreign.execute(f"GRANT SELECT ON dead_letter_queue TO {role}")
    assert sync().error == ""


def test_a_role_that_may_no_longer_write_keeps_what_is_owed_and_the_buttons_say_why(
    foreign: Foreign, role: str, sync: Sync, operator: Client
) -> None:
    [key, other] = foreign.add(2)
    sync()
    closed = DeadLetter.objects.get(source_key=key)
    foreign.execute(f"REVOKE UPDATE ON dead_letter_queue FROM {role}")
    foreign.execute(f"REVOKE UPDATE (status, resolved_at, resolved_by) ON dead_letter_queue FROM {role}")
    # As a replay closes it, when nobody knows yet that it cannot be written.
    DeadLetter.objects.filter(pk=closed.pk).update(
        status="resolved", resolution="replayed", closed_by="alice", closed_at="2026-11-16T00:00Z"
    )
    SourceState.objects.update(inspected_at=None)
    state = sync()
    why = (
        f"The role {role} may not write status, resolved_by, resolved_at: GRANT UPDATE (status, resolved_by, "
    )
    assert state.inspection["why_not"]["writes_status"].startswith(why)
    assert (state.error, OwedWrite.objects.count()) == ("", 1)
    letter = DeadLetter.objects.get(source_key=other)
    page = operator.get(f"/dead-letters/letters/{letter.pk}/").content.decode()
    assert "No resolve, discard or restore. The role" in page
    assert "Resolve…" not in page
    answer = operator.get(f"/dead-letters/resolve/confirm/?id={letter.pk}").content.decode()
    assert "1 letter of orders is left out. The role" in answer
    [own] = record_failures([Failure(consumer="billing", event_id="e1", error_type="E")])
    answer = operator.get(f"/dead-letters/resolve/confirm/?id={letter.pk}&id={own}").content.decode()
    assert "Resolve 1 letter of billing?" in answer
    assert '<p class="dim">1 letter of orders is left out. The role' in answer
    foreign.execute(f"GRANT UPDATE (status, resolved_at, resolved_by) ON dead_letter_queue TO {role}")
    SourceState.objects.update(inspected_at=None)
    sync()
    assert foreign.get_status(key) == ("resolved", "alice")
    assert not OwedWrite.objects.exists()


def test_a_write_that_the_source_refuses_is_told_and_keeps_nothing_from_being_read(
    foreign: Foreign, sync: Sync
) -> None:
    [key] = foreign.add()
    sync()
    foreign.execute("ALTER TABLE dead_letter_queue ADD CONSTRAINT never CHECK (status <> 'resolved')")
    try:
        DeadLetter.objects.update(status="resolved", closed_by="alice", closed_at="2026-11-16T00:00Z")
        [new] = foreign.add()
        state = sync()
        assert 'violates check constraint "never"' in state.error
        SourceState.objects.update(failing_since=timezone.now() - timedelta(minutes=1))
        assert any(need.headline == "orders does not take what is written" for need in list_attention())
        assert DeadLetter.objects.get(source_key=new).status == "failed"
        assert OwedWrite.objects.count() == 1
    finally:
        foreign.execute("ALTER TABLE dead_letter_queue DROP CONSTRAINT never")
    state = sync()
    assert (state.error, state.failing_since, foreign.get_status(key)) == ("", None, ("resolved", "alice"))


def test_nobody_writes_to_a_source_but_by_the_named_writes(foreign: Foreign, sync: Sync) -> None:
    """All transactions that read are read-only, so that not even a mistake could write."""
    foreign.add(1)
    with (
        connect(foreign.dsn) as opened,
        pytest.raises(SourceError, match="read-only transaction"),
        reading(opened, seconds=1) as cursor,
    ):
        cursor.execute("UPDATE dead_letter_queue SET status = 'resolved'")
    sync()
    assert foreign.execute("SELECT count(*) FROM dead_letter_queue WHERE status = 'failed'") == [(1,)]


def test_pages_ask_no_source(foreign: Foreign, sync: Sync, viewer: Client, settings: Any) -> None:
    """Somebody listens where the source should be, and hears nothing while all pages are read."""
    foreign.add(3)
    sync()
    letter = DeadLetter.objects.first()
    assert letter is not None
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        dsn = f"postgresql://somebody@127.0.0.1:{listener.getsockname()[1]}/theirs"
        settings.SOURCES = {"orders": foreign.configuration | {"dsn": dsn}}
        pages = ["/", "/sources/", "/sources/orders/", f"/dead-letters/letters/{letter.pk}/", "/projections/"]
        assert [viewer.get(page).status_code for page in pages] == [200] * len(pages)
        with pytest.raises(BlockingIOError):
            listener.accept()
