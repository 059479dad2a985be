"""What was done here is written there, whatever happens meanwhile, and one row holds up no other."""

from collections.abc import Callable
from datetime import timedelta
from threading import Thread

import psycopg
import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from dlq.models import DeadLetter
from sources.base import SourceError
from sources.models import ForeignRow, MovedRow, OwedRelease, OwedWrite, SourceState
from sources.sync import hold, looking, writing
from tests.markup import read_html
from tests.sources.foreign import Foreign
from tests.sources.stranded import release, strand
from tests.wait import count_waiting, until

pytestmark = pytest.mark.django_db(transaction=True)
Sync = Callable[..., SourceState]
Do = Callable[..., None]


def close_all() -> None:
    DeadLetter.objects.update(status="resolved", closed_by="alice", closed_at=timezone.now())


def test_what_is_restored_while_it_is_being_closed_there_is_opened_there_again(
    foreign: Foreign, sync: Sync, do: Do
) -> None:
    [key] = foreign.add()
    sync()
    letter = DeadLetter.objects.get()
    do("resolve", letter)
    with foreign.delaying(sync):
        do("restore", letter)
    sync()
    assert foreign.get_status(key) == ("failed", None)
    assert DeadLetter.objects.get().status == "failed"
    assert ForeignRow.objects.get().is_open
    assert (OwedWrite.objects.count(), MovedRow.objects.count()) == (0, 0)


def test_what_is_closed_while_it_is_being_opened_there_is_closed_there_again(
    foreign: Foreign, sync: Sync, do: Do
) -> None:
    [key] = foreign.add()
    sync()
    letter = DeadLetter.objects.get()
    do("resolve", letter)
    sync()
    do("restore", letter)
    with foreign.delaying(sync):
        do("resolve", letter)
    sync()
    assert foreign.get_status(key) == ("resolved", "alice")
    assert DeadLetter.objects.get().status == "resolved"
    assert not ForeignRow.objects.get().is_open
    assert (OwedWrite.objects.count(), MovedRow.objects.count()) == (0, 0)


def test_what_is_restored_while_its_owner_closes_the_row_is_never_open_here_alone(
    foreign: Foreign, sync: Sync
) -> None:
    [key] = foreign.add()
    state = sync()
    state.inspection["why_not"]["writes_status"] = "The role may not."
    state.save()
    close_all()
    foreign.set_status(key, "resolved")
    looks = Thread(target=lambda: (sync(), connection.close()))
    with transaction.atomic():
        DeadLetter.objects.update(status="failed", closed_by="", closed_at=None)
        looks.start()
        until(lambda: count_waiting() == 1)
    looks.join()
    assert (DeadLetter.objects.get().resolution, ForeignRow.objects.get().is_open) == ("at_source", False)


def test_what_is_restored_after_its_owner_closed_the_row_otherwise_follows_it(
    make_foreign: Callable[..., Foreign], sync: Sync, do: Do
) -> None:
    foreign = make_foreign("sql")
    [key] = foreign.add()
    sync()
    letter = DeadLetter.objects.get()
    do("discard", letter)
    sync()
    foreign.set_status(key, "done")
    do("restore", letter)
    sync()
    assert foreign.get_status(key)[0] == "done"
    letter.refresh_from_db()
    assert (letter.status, letter.resolution, ForeignRow.objects.get().status) == (
        "resolved",
        "at_source",
        "done",
    )
    assert MovedRow.objects.get().found == "done"
    assert not OwedWrite.objects.exists()


def test_what_is_restored_after_its_row_is_gone_stays_open_and_says_so(
    foreign: Foreign, sync: Sync, do: Do, viewer: Client
) -> None:
    [key] = foreign.add()
    sync()
    letter = DeadLetter.objects.get()
    do("resolve", letter)
    sync()
    foreign.delete(key)
    do("restore", letter)
    sync()
    assert DeadLetter.objects.get().status == "failed"
    page = read_html(viewer.get(f"/dead-letters/letters/{letter.pk}/"))
    moved = f"<br>“failed” was not written for somebody just now: row {key} was gone.</dd>"
    assert f"<dt>At its source</dt><dd>Row {key} is gone.{moved}" in page
    MovedRow.objects.update(found="resolved", actor="alice", at=timezone.now() - timedelta(minutes=5))
    page = read_html(viewer.get(f"/dead-letters/letters/{letter.pk}/"))
    moved = f"“failed” was not written for alice 5 min ago: row {key} said “resolved” and was left as it was."
    assert moved in page


def test_a_row_that_somebody_holds_is_passed_over_told_of_and_written_later(
    foreign: Foreign, sync: Sync
) -> None:
    held, free = foreign.add(2)
    sync()
    close_all()
    with psycopg.connect(foreign.dsn) as owner:
        owner.execute("SELECT FROM dead_letter_queue WHERE id = %s FOR UPDATE", [held])
        state = sync()
        assert state.error.startswith("Somebody holds rows that are to be written")
        assert foreign.get_status(free) == ("resolved", "alice")
        assert (foreign.get_status(held)[0], OwedWrite.objects.count()) == ("failed", 1)
    assert sync().error == ""
    assert foreign.get_status(held) == ("resolved", "alice")
    assert (OwedWrite.objects.count(), MovedRow.objects.count()) == (0, 0)


@pytest.mark.parametrize("batch_size", [500, 1])
def test_a_row_that_is_refused_holds_up_no_other(
    foreign: Foreign, sync: Sync, monkeypatch: pytest.MonkeyPatch, batch_size: int
) -> None:
    monkeypatch.setattr(writing, "BATCH_SIZE", batch_size)
    refused, other = foreign.add(2)
    sync()
    foreign.execute(
        f"ALTER TABLE dead_letter_queue ADD CONSTRAINT never CHECK (status <> 'resolved' OR id <> {refused})"
    )
    try:
        close_all()
        assert 'violates check constraint "never"' in sync().error
        assert foreign.get_status(other) == ("resolved", "alice")
        assert (foreign.get_status(refused)[0], OwedWrite.objects.count()) == ("failed", 1)
        assert DeadLetter.objects.filter(status="resolved").count() == 2
    finally:
        foreign.execute("ALTER TABLE dead_letter_queue DROP CONSTRAINT never")
    assert sync().error == ""
    assert foreign.get_status(refused) == ("resolved", "alice")


def test_rows_are_released_though_nothing_can_be_closed(foreign: Foreign, sync: Sync, do: Do) -> None:
    foreign.add()
    sync()
    foreign.execute("ALTER TABLE dead_letter_queue ADD CONSTRAINT never CHECK (status <> 'resolved')")
    try:
        do("resolve", DeadLetter.objects.get())
        [stranded] = strand(foreign, sync)
        release(1)
        assert 'violates check constraint "never"' in sync().error
        assert foreign.get_status(stranded)[0] == "failed"
        assert not OwedRelease.objects.exists()
    finally:
        foreign.execute("ALTER TABLE dead_letter_queue DROP CONSTRAINT never")


def test_a_release_of_a_row_that_somebody_holds_stays_owed(foreign: Foreign, sync: Sync) -> None:
    held, free = strand(foreign, sync, 2)
    release(2)
    with psycopg.connect(foreign.dsn) as owner:
        owner.execute("SELECT FROM dead_letter_queue WHERE id = %s FOR UPDATE", [held])
        sync()
        assert (foreign.get_status(held)[0], foreign.get_status(free)[0]) == ("retrying", "failed")
    sync()
    assert foreign.get_status(held)[0] == "failed"
    assert (OwedRelease.objects.count(), MovedRow.objects.count()) == (0, 0)


def test_that_nothing_can_be_read_counts_from_when_it_began_though_writes_failed_before(
    foreign: Foreign, sync: Sync
) -> None:
    def look(how: Callable[[hold.SourceHold], None]) -> SourceState:
        SourceState.objects.update(next_at=None, failing_since=long_ago)
        held = hold.claim("orders", kind="eventsource-py", takes_writes=True)
        assert held
        how(held)
        return SourceState.objects.get()

    sync()
    long_ago, refused = timezone.now() - timedelta(hours=1), SourceError("no", permanent=False)
    # Whether it is the same trouble as before.
    for is_same, how in (
        (True, lambda held: held.end(refused)),
        (False, lambda held: held.fail(refused)),
        (True, lambda held: held.fail(refused)),
        (False, lambda held: held.end(refused)),
    ):
        assert (look(how).failing_since == long_ago) is is_same


def test_new_rows_are_read_though_the_time_is_over_and_the_page_says_that_there_are_more(
    foreign: Foreign, sync: Sync, monkeypatch: pytest.MonkeyPatch, viewer: Client
) -> None:
    sync()
    monkeypatch.setattr(looking, "BATCH_SIZE", 3)
    monkeypatch.setattr(hold, "STAGE_SECONDS", 0)
    foreign.add(5)
    sync()
    assert DeadLetter.objects.count() == 3
    assert "orders is behind" in viewer.get("/sources/orders/").content.decode()
    sync()
    assert DeadLetter.objects.count() == 5
    assert "orders is up to date" in viewer.get("/sources/orders/").content.decode()
