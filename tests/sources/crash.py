"""A first import while the console's own Postgres crashes; run by test_first_import.py.

It is a program of its own because it crashes the Postgres that it works on. The source is on another server.
"""

import sys
from pathlib import Path

import django
from django.conf import settings
from django.db import connection

from tests.processes import OwnPostgres

CRASHES = 3


def main(postgres: OwnPostgres, dsn: str, number: int) -> None:
    from dashboard.models import Run
    from dashboard.runs.worker import run_lane
    from dlq.models import DeadLetter
    from sources.models import ForeignRow
    from sources.sync import importing
    from sources.sync.sync import sync_source
    from tests.dlq.counting import assert_counters_are_right
    from tests.sources.test_first_import import work_all

    settings.SOURCES = {"orders": {"kind": "eventsource-py", "dsn": dsn}}
    importing.IMPORT_ABOVE, importing.BATCH_SIZE = 10, 7
    sync_source("orders")
    run = Run.objects.get()
    for lane in list(run.lanes.order_by("number"))[:CRASHES]:
        run_lane(run.pk, lane.number, lane.epoch)
        # What it has just committed is not on disk yet.
        postgres.crash()
        postgres.start()
        connection.close()
    assert DeadLetter.objects.count() < number
    while run.state != "finished":
        work_all(run)
    assert DeadLetter.objects.count() == ForeignRow.objects.count() == number
    assert sum(lane.totals["imported"] for lane in run.lanes.all()) == number
    assert_counters_are_right()


if __name__ == "__main__":
    # Durable: only what does not ask to be is lost.
    own = OwnPostgres(Path(sys.argv[1]), durable=True)
    try:
        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        main(own, sys.argv[2], int(sys.argv[3]))
    finally:
        own.close()
