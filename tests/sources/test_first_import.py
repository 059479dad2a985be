"""The first import of a source with many rows is a run with progress, and survives what happens meanwhile."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dashboard.embedded.addresses import database_url
from dashboard.models import Lane, Run
from dashboard.runs import states
from dashboard.runs.worker import run_lane
from dlq.models import DeadLetter
from sources.models import ForeignRow, SourceState
from sources.sync import importing
from tests.processes import ROOT
from tests.sources.foreign import Foreign

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
