"""The first import of a source that has many open rows: a run with progress, in lanes that share the keys.

The sync reads what is new from the beginning on; the run reads what was there before. A lane's place is saved with the
letters it recorded, so after a death the next worker goes on from there; a source that is away, or lets nobody read, is
waited for, and the run's log says why.
"""

import time
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.db import connection
from django.db.models import F
from django.utils import timezone

from dashboard import audit
from dashboard.models import Lane, Run
from dashboard.runs.dispatch import dispatch
from dashboard.runs.kinds import DONE, MORE, Outcome, Step
from dashboard.runs.lanes import Hold
from dashboard.runs.operations import create_run, note_run
from sources.base import Letters, SourceError
from sources.registry import get_source
from sources.sync.arriving import take_rows
from sources.sync.hold import SourceHold
from sources.sync.looking import BATCH_SIZE

# Fewer than this are read by the sync itself, within seconds.
IMPORT_ABOVE = 10_000
LANES = 4
AWAY_SECONDS = 5
# Somebody must act first.
REFUSED_SECONDS = 30
# After this long the worker looks whether the run was paused.
SLICE_SECONDS = 1.0
ACTOR = "sync"


class Import:
    name = "import"
    outcomes: tuple[Outcome, ...] = (Outcome("imported", "imported", "good"),)

    def work(self, hold: Hold) -> Step:
        name = hold.run.options["source"]
        lane = Lane.objects.get(pk=hold.lane_id)
        after, until = lane.cursor["after"], lane.cursor["until"]
        try:
            with get_source(name).visit() as visit:
                if visit.letters is None:
                    raise SourceError(f"{name} has no letters any more.", permanent=True)
                # One visit for some batches: connecting costs as much as reading one.
                end_of_slice = time.monotonic() + SLICE_SECONDS
                while True:
                    rows = visit.letters.read_open(after=after, until=until, limit=BATCH_SIZE)
                    with hold.recording() as lane:
                        commit_lazily()
                        take_rows(name, visit.letters.words, rows)
                        lane.count("imported", len(rows))
                        after = lane.cursor["after"] = rows[-1].key if rows else after
                    if not rows:
                        return DONE
                    if time.monotonic() > end_of_slice:
                        break
        except SourceError as error:
            note_run(hold.run, f"It waits for {name}: {error}")
            seconds = REFUSED_SECONDS if error.permanent else AWAY_SECONDS
            return Step(wait_until=timezone.now() + timedelta(seconds=seconds))
        return MORE


def commit_lazily() -> None:
    """Nobody waits for the disk: if the server dies, the last batches go with their place, and are read again."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")


def begin(hold: SourceHold, letters: Letters) -> None:
    """At the first look: note where new rows begin, and start a run for what is there if it is much."""
    if "newest" in hold.cursor:
        return
    newest = letters.find_newest_key() if letters.keys_grow else ""
    if len(letters.list_open_keys(after="", limit=IMPORT_ABOVE + 1)) <= IMPORT_ABOVE:
        newest = ""
    else:
        start_import(hold, letters, newest)
    hold.cursor["newest"] = newest


def start_import(hold: SourceHold, letters: Letters, newest: str) -> None:
    number, splits = letters.split_open(LANES)
    bounds = ["", *splits, newest]
    with hold.recording():
        with audit.action("source.import", actor=ACTOR) as entry:
            run, _ = create_run(
                "import",
                title=f"First import of {number:,} rows from {hold.name}",
                lane_totals=[number // (len(bounds) - 1)] * (len(bounds) - 1),
                request_key=uuid4(),
                actor=ACTOR,
                options={"source": hold.name},
            )
            entry.subject = run
            entry.details = {"source": hold.name, "count": number}
        for lane in run.lanes.order_by("number"):
            lane.cursor = {"after": bounds[lane.number], "until": bounds[lane.number + 1]}
            lane.save(update_fields=["cursor"])
        # What does not divide evenly is the last lane's.
        run.lanes.filter(number=len(bounds) - 2).update(total=F("total") + number % (len(bounds) - 1))
        hold.cursor["import_run"] = run.pk
        hold.cursor["newest"] = newest
    dispatch(run)


def is_over(cursor: dict[str, Any]) -> bool:
    """Whether there is no import, or no longer; one that ended before its time leaves rows out, so it is not over."""
    if "import_run" in cursor and find_import(cursor) is None:
        del cursor["import_run"]
    return "import_run" not in cursor


def find_import(cursor: dict[str, Any]) -> Run | None:
    """The first import, while it is under way, or if it ended before its time; None: there is none."""
    return find_imports({"": cursor}).get("")


def find_imports(cursors: dict[str, dict[str, Any]]) -> dict[str, Run]:
    """The same for many sources at once, by name."""
    ids = {name: cursor["import_run"] for name, cursor in cursors.items() if "import_run" in cursor}
    runs = Run.objects.exclude(state=Run.State.FINISHED).in_bulk(list(ids.values()))
    return {name: runs[run_id] for name, run_id in ids.items() if run_id in runs}
