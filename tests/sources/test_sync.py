"""How changes are found, and what happens when looks overlap, stall or die."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from socket import create_server
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.utils import timezone

from dlq.models import DeadLetter
from dlq.operations import handle_letters
from dlq.selection import Selection, newest_id
from dlq.verbs import VERBS
from sources.models import ForeignRow, OwedWrite, SourceState
from sources.sync import looking
from sources.sync.arriving import take_rows
from sources.sync.hold import SourceLostError, claim
from sources.sync.sync import sync_source
from tests.processes import running_beat, running_worker
from tests.sources.foreign import ADD, Foreign
from tests.wait import until

pytestmark = pytest.mark.django_db(transaction=True)
Sync = Callable[..., SourceState]


def test_a_row_that_commits_late_below_the_newest_is_found(foreign: Foreign, sync: Sync) -> None:
    """Its key was given out first, and a greater one was seen before it was visible."""
    with psycopg.connect(foreign.dsn) as slow:
        values = {
            "consumer": "OrderSummary",
            "event_type": "T",
            "error": "late",
            "trace": "",
            "payload": "{}",
        }
        [[late]] = slow.execute(ADD["eventsource-py"], {**values, "event_id": str(uuid4())}).fetchall()
        [early] = foreign.add()
        assert int(early) > int(late)
        sync()
        assert sync(thoroughly=False).cursor["newest"] == early
        slow.commit()
    # The server counts the write when its transaction is over; that alone starts a sweep.
    SourceState.objects.update(next_at=None)
    until(lambda: "sweep_seconds" not in forget_rest() and not sync_source("orders") and find(late))
    assert DeadLetter.objects.count() == 2


def forget_rest() -> dict[str, Any]:
    """A sweep may begin at once; whether it does is up to the count of writes."""
    state = SourceState.objects.get()
    state.cursor.pop("sweep_seconds", None)
    state.save()
    return state.cursor


def find(key: str) -> DeadLetter | None:
    return DeadLetter.objects.filter(source_key=key).first()


def test_writes_to_a_partition_start_a_sweep_too(
    make_foreign: Callable[..., Foreign], sync: Sync, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whatever is swept is for the count of writes.
    monkeypatch.setattr(looking, "SWEEP_SECONDS", 3600)
    foreign = make_foreign("sql", table="parted")
    foreign.execute("""
        CREATE TABLE parted (LIKE failed_messages INCLUDING DEFAULTS) PARTITION BY RANGE (id);
        CREATE TABLE part PARTITION OF parted DEFAULT""")
    try:
        foreign.execute(
            "INSERT INTO parted (\"Handler\", message_id, body) VALUES ('OrderSummary', 'a', '{}')"
        )
        assert sync().error == ""
        assert DeadLetter.objects.get().status == "failed"
        foreign.execute("UPDATE parted SET state = 'done'")
        until(lambda: forget_rest() and not sync_source("orders") and not find_open())
    finally:
        foreign.execute("DROP TABLE parted")


def find_open() -> bool:
    return DeadLetter.objects.filter(status="failed").exists()


def test_a_look_with_nothing_new_sweeps_nothing(
    foreign: Foreign, sync: Sync, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign.add(3)
    # The session would count the rows above only a moment later, and a sweep would look for them.
    foreign.execute("SELECT pg_stat_force_next_flush()")
    sync()
    until(lambda: forget_rest() and not sync_source("orders") and is_at_rest(foreign))
    swept: list[Any] = []
    monkeypatch.setattr(looking, "sweep_known", lambda *_: swept.append(1))
    for _ in range(3):
        sync(thoroughly=False)
    assert not swept


def is_at_rest(foreign: Foreign) -> bool:
    [[counts]] = foreign.execute(
        "SELECT concat_ws('/', n_tup_ins, n_tup_upd, n_tup_del) FROM pg_stat_user_tables"
        " WHERE relname = 'dead_letter_queue'"
    )
    return bool(SourceState.objects.get().cursor.get("writes") == counts)


def test_a_failure_that_fills_many_batches_arrives_whole(
    foreign: Foreign, sync: Sync, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("BATCH_SIZE", 3), ("SWEEP_SIZE", 4)):
        monkeypatch.setattr(looking, name, size)
    keys = foreign.add(11)
    sync()
    for key in keys[::2]:
        foreign.set_status(key, "resolved")
    foreign.delete(keys[1])
    sync()
    assert DeadLetter.objects.filter(resolution="at_source").count() == 7
    assert DeadLetter.objects.filter(status="failed").count() == 4


def test_two_rows_of_one_event_are_one_letter_that_closes_with_the_last(
    make_foreign: Callable[..., Foreign], sync: Sync
) -> None:
    """This table has a row for each failure, so one event may have many."""
    foreign, event_id = make_foreign("platform-services"), str(uuid4())
    [first] = foreign.add(event_id=event_id, error="once")
    [second] = foreign.add(event_id=event_id, error="twice")
    sync()
    letter = DeadLetter.objects.get()
    foreign.set_status(first, "replayed")
    sync()
    letter.refresh_from_db()
    assert letter.status == "failed"
    resolve(letter)
    sync()
    assert (foreign.get_status(first)[0], foreign.get_status(second)[0]) == ("replayed", "replayed")
    foreign.fail_again(second)
    sync()
    letter.refresh_from_db()
    assert letter.status == "failed"
    sync()
    # The other row was closed by its owner, and stays so.
    assert foreign.get_status(first)[0] == "replayed"
    assert not OwedWrite.objects.exists()


def resolve(*letters: DeadLetter) -> None:
    chosen = DeadLetter.objects.filter(pk__in=[letter.pk for letter in letters])
    selection = Selection(chosen, newest_id(), is_by_hand=True, description={})
    handle_letters(
        VERBS["resolve"], selection, confirmed=len(letters), actor="alice", request_key=uuid4(), reason="x"
    )


def test_many_that_are_closed_at_once_are_all_written_back(foreign: Foreign, sync: Sync) -> None:
    foreign.add(1200)
    # A look takes as much as it has time for.
    until(lambda: sync() and ForeignRow.objects.count() == 1200)
    DeadLetter.objects.update(status="resolved", closed_by="alice", closed_at=timezone.now())
    assert OwedWrite.objects.count() == 1200
    until(lambda: sync() and not OwedWrite.objects.exists())
    assert foreign.execute("SELECT count(*) FROM dead_letter_queue WHERE status = 'resolved'") == [(1200,)]
    assert not ForeignRow.objects.filter(is_open=True).exists()


def test_rows_go_with_their_letters(foreign: Foreign, sync: Sync) -> None:
    foreign.add(2)
    sync()
    DeadLetter.objects.order_by("pk")[1].delete()
    assert ForeignRow.objects.count() == 1


def test_only_one_looks_at_a_time_and_one_that_stalled_records_nothing(foreign: Foreign, sync: Sync) -> None:
    [key] = foreign.add()
    sync()
    held = claim("orders", kind="eventsource-py", takes_writes=True)
    assert held is not None
    assert claim("orders", kind="eventsource-py", takes_writes=True) is None
    source_row = ForeignRow.objects.get()
    # It has read that the row is open, and stalls past its lease; another sees the row resolved.
    SourceState.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    foreign.set_status(key, "resolved")
    sync()
    assert DeadLetter.objects.get().status == "resolved"
    with pytest.raises(SourceLostError), held.recording():
        take_rows("orders", None, [source_row])  # type: ignore[arg-type]
    held.end()
    assert DeadLetter.objects.get().status == "resolved"
    assert SourceState.objects.get().cursor.keys() > {"newest", "writes"}


def test_letters_come_by_beat_and_worker_though_another_source_hangs(
    foreign: Foreign, tmp_path: Path
) -> None:
    """The other takes connections and never says a word."""
    with create_server(("127.0.0.1", 0)) as silent:
        config = tmp_path / "redrive.toml"
        config.write_text(f"""
[sources.orders]
kind = "eventsource-py"
dsn = "env:ORDERS_DSN"
every_seconds = 0.5

[sources.silent]
kind = "eventsource-py"
dsn = "postgresql://127.0.0.1:{silent.getsockname()[1]}/x"
every_seconds = 0.5
""")
        environment = {"REDRIVE_CONFIG": str(config), "ORDERS_DSN": foreign.dsn}
        with (
            running_worker(tmp_path / "worker.log", queues="sources", **environment),
            running_beat(tmp_path / "beat.log", **environment),
        ):
            [first] = foreign.add()
            until(lambda: find(first))
            until(lambda: SourceState.objects.filter(name="silent").exclude(error="").first())
            [second] = foreign.add()
            until(lambda: find(second))
            foreign.set_status(first, "resolved")
            until(lambda: DeadLetter.objects.get(source_key=first).resolution == "at_source", seconds=60)
    assert "cannot be reached" in SourceState.objects.get(name="silent").error
