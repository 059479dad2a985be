"""The first import of a source with many rows is a run with progress, and survives what happens meanwhile."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from dashboard.embedded.addresses import database_url
from dashboard.models import Lane, Run
from dashboard.runs import states, worker
from dashboard.runs.operations import note_run
from dashboard.runs.worker import run_lane
from dlq.models import DeadLetter
from sources import tasks
from sources.models import ForeignRow, MovedRow, SourceState
from sources.operations import import_again
from sources.sql import letters
from sources.sync import importing
from tests.processes import ROOT
from tests.sources.foreign import Foreign
from tests.wait import count_waiting, until

pytestmark = pytest.mark.django_db(transaction=True)
Sync = Callable[..., SourceState]


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "IMPORT_ABOVE", 10)
    monkeypatch.setattr(importing, "BATCH_SIZE", 7)


def work_all(run: Run) -> None:
    for lane in Lane.objects.filter(run=run, is_done=False):
        Lane.objects.filter(pk=lane.pk).update(not_before=None)
        run_lane(run.pk, lane.number, lane.epoch)
    states.settle(run.pk)
    run.refresh_from_db()


@pytest.mark.parametrize("kind", ["eventsource-py", "platform-services"])
def test_many_rows_come_by_a_run_and_new_ones_meanwhile_by_the_sync(
    kind: str, make_foreign: Callable[..., Foreign], sync: Sync
) -> None:
    foreign = make_foreign(kind)
    foreign.add(50)
    state = sync()
    assert state.error == ""
    run = Run.objects.get()
    assert (run.kind, run.title) == ("import", "First import of 50 rows from orders")
    assert sum(run.lanes.values_list("total", flat=True)) == 50
    assert not DeadLetter.objects.exists()
    [late] = foreign.add(event_id="00000000-0000-0000-0000-000000000001")
    sync()
    assert DeadLetter.objects.get().source_key == late
    work_all(run)
    assert run.state == "finished"
    assert DeadLetter.objects.count() == ForeignRow.objects.count() == 51
    assert sum(lane.totals["imported"] for lane in run.lanes.all()) == 50
    sync()
    assert DeadLetter.objects.filter(status="failed").count() == 51


def test_a_row_that_was_resolved_while_it_was_imported_is_closed_by_the_next_sweep(
    foreign: Foreign, sync: Sync
) -> None:
    keys = foreign.add(20)
    sync()
    work_all(Run.objects.get())
    foreign.set_status(keys[3], "resolved")
    sync()
    assert DeadLetter.objects.get(source_key=keys[3]).resolution == "at_source"


def test_a_source_that_is_away_is_waited_for(foreign: Foreign, sync: Sync, settings: Any) -> None:
    foreign.add(20)
    sync()
    run, there = Run.objects.get(), settings.SOURCES
    settings.SOURCES = {"orders": {"kind": "eventsource-py", "dsn": "postgresql://127.0.0.1:1/nowhere"}}
    work_all(run)
    assert (run.state, DeadLetter.objects.count()) == ("running", 0)
    assert all(lane.not_before and not lane.error_count for lane in run.lanes.all())
    settings.SOURCES = there
    work_all(run)
    assert (run.state, DeadLetter.objects.count()) == ("finished", 20)


def test_a_source_that_changes_meanwhile_is_waited_for_and_the_run_says_why(
    foreign: Foreign, sync: Sync
) -> None:
    foreign.add(20)
    sync()
    run = Run.objects.get()
    foreign.execute("ALTER TABLE dead_letter_queue RENAME last_failed_at TO failed_last")
    try:
        for _ in range(worker.MOST_ERRORS + 1):
            work_all(run)
    finally:
        foreign.execute("ALTER TABLE dead_letter_queue RENAME failed_last TO last_failed_at")
    assert (run.state, DeadLetter.objects.count()) == ("running", 0)
    assert run.events.filter(note__startswith="It waits for orders: It refuses: column").count() == 1
    work_all(run)
    assert (run.state, DeadLetter.objects.count()) == ("finished", 20)


def test_lanes_that_wait_for_the_same_say_so_once(foreign: Foreign, sync: Sync) -> None:
    foreign.add(20)
    sync()
    run = Run.objects.get()

    def say() -> None:
        note_run(run, "It waits.")
        connection.close()

    lanes = [Thread(target=say) for _ in range(2)]
    with transaction.atomic():
        Run.objects.select_for_update().get()
        for lane in lanes:
            lane.start()
        until(lambda: count_waiting() == 2)
    for lane in lanes:
        lane.join()
    assert run.events.filter(note="It waits.").count() == 1


def test_the_longest_statement_ends_before_the_task_that_waits_for_it() -> None:
    assert tasks.sync.soft_time_limit > letters.MOST_SECONDS


@pytest.mark.parametrize("import_above", [10, 100])
def test_importing_again_leaves_alone_what_was_dealt_with_meanwhile(
    foreign: Foreign, sync: Sync, monkeypatch: pytest.MonkeyPatch, import_above: int
) -> None:
    """By a run again, or by the look itself where they are few; nothing can be written to the source."""
    foreign.add(20)
    state = sync()
    state.inspection["why_not"]["writes_status"] = "The role may not."
    state.save()
    run = Run.objects.get()
    for lane in run.lanes.filter(number__lt=2):
        run_lane(run.pk, lane.number, lane.epoch)
    states.move(run.pk, Run.State.CANCELLING)
    states.settle(run.pk)
    imported = DeadLetter.objects.count()
    assert 0 < imported < 20
    DeadLetter.objects.update(status="resolved", resolution="replayed", closed_at=timezone.now())
    import_again("orders", actor="alice")
    monkeypatch.setattr(importing, "IMPORT_ABOVE", import_above)
    sync()
    for again in Run.objects.exclude(pk=run.pk):
        work_all(again)
    sync()
    assert DeadLetter.objects.filter(status="failed").count() == 20 - imported
    assert DeadLetter.objects.filter(status="resolved", resolution="replayed").count() == imported
    assert not MovedRow.objects.exists()


def test_nothing_is_imported_while_the_run_is_paused(foreign: Foreign, sync: Sync) -> None:
    foreign.add(20)
    sync()
    run = Run.objects.get()
    states.move(run.pk, Run.State.PAUSING)
    states.settle(run.pk)
    work_all(run)
    sync()
    assert (run.state, DeadLetter.objects.count()) == ("paused", 0)


def test_a_crash_of_the_console_s_postgres_costs_time_and_no_row(foreign: Foreign, tmp_path: Path) -> None:
    """An import does not wait for the disk: what the crash took with it is read again, and nothing is there twice."""
    foreign.add(150)
    done = subprocess.run(
        [sys.executable, "-m", "tests.sources.crash", str(tmp_path), foreign.dsn, "150"],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": database_url(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
