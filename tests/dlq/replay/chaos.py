"""Two replays over the same sequences, live traffic, and everything that can die does; run by test_chaos.py.

It is a program of its own because it crashes the Postgres that it works on.
"""

import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import django
from django.db import DatabaseError, connection

from dashboard.embedded import valkey
from tests.processes import CELERY, OwnPostgres, Process
from tests.wait import until

STREAMS, EVENTS, BUSY, LIVE_EVENTS = 500, 10, 20, 400
KILLS, FLUSHES = 5, 2
CONSUMER = "parallel"


def main(directory: Path, postgres: OwnPostgres) -> None:
    prepare()
    redis = start_redis(directory)
    runs = start_runs()
    consumer = Process("manage.py", "consume", CONSUMER, log=directory / "consume.log")
    traffic = threading.Thread(target=append_live)
    traffic.start()
    worker = start_worker(directory, 0)
    try:
        for number in range(1, KILLS + 1):
            wait_for_progress(runs)
            if number == 3:
                postgres.crash()
                postgres.start()
                connection.close()
                wait_for_progress(runs)
            if number in (2, 4):
                redis.kill()
                redis.wait()
                # It keeps nothing on disk, so it comes back empty.
                redis = start_redis(directory)
            worker.kill()
            worker = start_worker(directory, number)
        traffic.join()
        until(lambda: is_over(runs), 90)
        check(runs)
    finally:
        for process in (worker, consumer):
            process.kill()
        redis.kill()
        redis.wait()


def prepare() -> None:
    """Letters as the runtime leaves them: the first event of each stream has failed, the others are parked."""
    from dlq.api import Failure, Parked, park_events, record_failures
    from projections.declared import sync_declared
    from projections.models import Projection
    from projections.runtime.letters import describe_event
    from projections.store import NewEvent, append, read

    sync_declared()
    for number in range(STREAMS):
        append(f"s{number}", [NewEvent("Paid", {"amount": n}) for n in range(EVENTS)])
    events = read(after=0, types=["Paid"], limit=STREAMS * EVENTS)
    heads = [event for event in events if event.version == 1]
    record_failures(
        Failure(**describe_event(CONSUMER, event), payload=event.data, error_type="Oops", error_message="no")
        for event in heads
    )
    park_events(Parked(**describe_event(CONSUMER, event)) for event in events if event.version > 1)
    Projection.objects.filter(name=CONSUMER).update(position=STREAMS * EVENTS)


def start_runs() -> list[int]:
    """The first takes the ends of all sequences, and half of them whole; the second takes what the first has not."""
    from dlq.models import DeadLetter
    from dlq.operations import start_replay
    from dlq.queries.replay import preview_replay
    from dlq.replay.options import ReplayOptions
    from dlq.selection import Selection, newest_id

    ids = []
    ends = DeadLetter.objects.filter(sequence_no__gt=EVENTS // 2)
    whole = DeadLetter.objects.filter(sequence_key__endswith="7") | DeadLetter.objects.filter(
        sequence_key__endswith="1"
    )
    for letters in (ends | whole, DeadLetter.objects.all()):
        selection = Selection(letters, newest_id(), is_by_hand=False)
        run = start_replay(
            selection,
            confirmed=preview_replay(selection).count,
            options=ReplayOptions(canary=False, stop_after=None),
            actor="chaos",
            request_key=uuid4(),
        )
        ids.append(run.pk)
    return ids


def append_live() -> None:
    """Events for some of the sequences, all the while; an append that the crash undid is made again."""
    from projections.store import NewEvent, append

    left = LIVE_EVENTS
    while left:
        with suppress(DatabaseError):
            append(f"s{left % BUSY}", [NewEvent("Paid", {"amount": left})])
            left -= 1
        time.sleep(0.01)
        connection.close_if_unusable_or_obsolete()
    connection.close()


def wait_for_progress(runs: list[int]) -> None:
    """Until something more was applied, or there is no more to do."""
    from tests.shop.models import Applied

    before = Applied.objects.count()
    until(lambda: Applied.objects.count() > before + 200 or is_over(runs))


def is_over(runs: list[int]) -> bool:
    """Do what beat does, and look whether all is done."""
    from dashboard.models import Run
    from dashboard.runs.dispatch import tend_runs
    from projections.models import Projection
    from projections.store import get_head

    tend_runs()
    is_live_done = Projection.objects.get(name=CONSUMER).position == get_head()
    return is_live_done and Run.objects.filter(pk__in=runs, state="finished").count() == len(runs)


def check(runs: list[int]) -> None:
    from dlq.models import DeadLetter, LetterRunItem
    from projections import accounting
    from projections.models import Projection
    from projections.store import get_head
    from tests.dlq.counting import assert_counters_are_right
    from tests.shop.models import Applied

    applied = defaultdict(list)
    for stream, version in Applied.objects.order_by("id").values_list("stream", "version"):
        applied[stream].append(version)
    assert sum(map(len, applied.values())) == get_head(), "every event once"
    broken = {stream for stream, found in applied.items() if found != list(range(1, len(found) + 1))}
    assert not broken, f"out of order: {broken}"
    assert set(DeadLetter.objects.values_list("status", flat=True)) == {"resolved"}
    assert set(DeadLetter.objects.values_list("tier", flat=True)) == {"dead_letter"}
    assert not LetterRunItem.objects.filter(is_active=True).exists()
    assert accounting.check(Projection.objects.get(name=CONSUMER)).missing == 0
    assert_counters_are_right()
    print("letters", DeadLetter.objects.count(), "head", get_head())


def start_redis(directory: Path) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(valkey.program(directory, durable=False).command)
    until(lambda: valkey.is_ready(directory))
    return process


def start_worker(directory: Path, number: int) -> Process:
    log = directory / f"worker-{number}.log"
    options = ["worker", "-Q", "replays", "-c", "2", "--without-gossip", "--without-mingle"]
    return Process(*CELERY, *options, log=log)


if __name__ == "__main__":
    data_dir = Path(sys.argv[1])
    os.environ["DJANGO_SETTINGS_MODULE"] = "dashboard.settings"
    server = OwnPostgres(data_dir)
    try:
        valkey.prepare(data_dir)
        subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity=0"], check=True)
        django.setup()
        main(data_dir, server)
    finally:
        server.close()
