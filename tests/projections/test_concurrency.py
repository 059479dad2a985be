"""Many writers, several consumers, and kill -9: nothing missed, nothing twice, order kept."""

import random
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from django.db import connection

from dashboard.models import Heartbeat
from projections import accounting
from projections.models import Projection
from projections.store import NewEvent, append, get_head
from tests.processes import Process
from tests.shop.models import Applied, Balance
from tests.wait import until

WRITERS, EVENTS = 8, 100


def write(seed: int) -> None:
    """Append to streams that all writers share, in batches of random sizes."""
    chance = random.Random(seed)
    left = EVENTS
    try:
        while left:
            size = min(left, chance.randint(1, 5))
            append(f"s{chance.randint(0, 9)}", [NewEvent("Paid", {"amount": 1}) for _ in range(size)])
            left -= size
    finally:
        connection.close()


def test_eight_writers_while_two_consumers_run_and_are_killed(
    tmp_path: Path, applied: Callable[[str], list[int]]
) -> None:
    names = ("letters", "balances")

    def start(number: int) -> Process:
        return Process("manage.py", "consume", *names, log=tmp_path / f"consume-{number}.log")

    consumers = [start(0), start(1)]
    # So that they are killed while there is something to do.
    until(lambda: Heartbeat.objects.filter(kind=Heartbeat.Kind.CONSUMER).count() == 2)
    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(WRITERS)]
    try:
        for writer in writers:
            writer.start()
        for number in range(2, 5):
            before = Applied.objects.count()
            until(lambda before=before: Applied.objects.count() > before or is_done(names))  # type: ignore[misc]
            consumers[number % 2].kill()
            consumers[number % 2] = start(number)
        for writer in writers:
            writer.join(60)
        until(lambda: get_head() == WRITERS * EVENTS and is_done(names), 60)
    finally:
        for consumer in consumers:
            consumer.kill()
    assert applied("letters") == list(range(1, WRITERS * EVENTS + 1))
    versions = defaultdict(list)
    for stream, version in Applied.objects.order_by("id").values_list("stream", "version"):
        versions[stream].append(version)
    assert all(found == list(range(1, len(found) + 1)) for found in versions.values())
    assert sum(Balance.objects.values_list("amount", flat=True)) == WRITERS * EVENTS
    for row in Projection.objects.filter(name__in=names):
        account = accounting.check(row)
        assert (account.processed, account.missing) == (WRITERS * EVENTS, 0)


def is_done(names: tuple[str, ...]) -> bool:
    return not Projection.objects.filter(name__in=names, position__lt=WRITERS * EVENTS).exists()


def test_a_consumer_ends_its_batch_and_leaves_when_asked(tmp_path: Path, pay: Callable[..., int]) -> None:
    log = tmp_path / "consume.log"
    consumer = Process("manage.py", "consume", "letters", log=log)
    try:
        pay("a", 1, 2)
        until(lambda: Projection.objects.get(name="letters").position == 2)
        consumer.popen.terminate()
        assert consumer.popen.wait(30) == 0
    finally:
        consumer.kill()
    assert Projection.objects.get(name="letters").trial_by is None


def test_one_projection_that_hangs_holds_up_no_other(
    tmp_path: Path, pay: Callable[..., int], applied: Callable[[str], list[int]]
) -> None:
    pay("a", 1, mark="x", how="hang")
    pay("a", 2, event_type="Noted")
    consumer = Process("manage.py", "consume", "journal", "notes", log=tmp_path / "consume.log")
    try:
        until(lambda: applied("notes") == [2])
        assert Projection.objects.get(name="journal").position == 0
    finally:
        consumer.kill()
