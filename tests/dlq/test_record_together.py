"""Several processes record overlapping batches in random order, while the counters are folded under their hands."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from dlq.api import Failure, record_failures
from dlq.compaction import compact
from dlq.models import Attempt, DeadLetter
from dlq.retention import purge_letters
from tests.dlq.counting import assert_counters_are_right
from tests.dlq.recorder import make_failures
from tests.processes import Process
from tests.wait import until

pytestmark = pytest.mark.django_db(transaction=True)


def test_writers_never_deadlock_and_leave_the_right_letters_and_counters(tmp_path: Path) -> None:
    logs = [tmp_path / f"{seed}.log" for seed in range(3)]
    recorders = [Process("-m", "tests.dlq.recorder", str(seed), log=log) for seed, log in enumerate(logs)]
    until(lambda: compact() or all(recorder.popen.poll() is not None for recorder in recorders), 120)
    assert [recorder.popen.returncode for recorder in recorders] == [0, 0, 0], [
        log.read_text() for log in logs
    ]
    expected: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
    for failure in make_failures():
        expected.setdefault((failure["event_id"], failure["consumer"]), []).append(failure)
    assert DeadLetter.objects.count() == len(expected)
    for letter in DeadLetter.objects.all():
        tries = expected[letter.event_id, letter.consumer]
        latest = max(tries, key=lambda one: one["failed_at"])
        assert letter.attempts == len(tries) == Attempt.objects.filter(letter=letter).count()
        assert letter.first_failed_at == min(one["failed_at"] for one in tries)
        assert (letter.last_failed_at, letter.error_type) == (latest["failed_at"], latest["error_type"])
        assert letter.summary == latest["error_message"]
    assert_counters_are_right()
    compact()
    assert_counters_are_right()


def test_a_letter_that_is_purged_while_it_fails_again_is_a_new_one() -> None:
    known = {"consumer": "c", "error_type": "E"}
    old, other = record_failures([Failure(**known, event_id=event_id) for event_id in ("old", "other")])
    long_ago = datetime.now(UTC) - timedelta(days=40)
    DeadLetter.objects.filter(pk=old).update(status="resolved", closed_at=long_ago)

    def purge() -> None:
        purge_letters(long_ago + timedelta(days=1))
        connection.close()

    def purge_first(execute: Any, sql: str, *rest: Any) -> Any:
        # The letters have been found, and are about to be locked.
        if "dlq_deadletter.id = ANY" in sql:
            thread = threading.Thread(target=purge)
            thread.start()
            thread.join()
        return execute(sql, *rest)

    again = [Failure(**known, event_id="old"), Failure(**known, event_id="new")]
    with transaction.atomic(), connection.execute_wrapper(purge_first):
        ids = record_failures(again, lock_too=[other])
    assert old not in ids
    assert set(DeadLetter.objects.values_list("pk", flat=True)) == {other, *ids}
    assert_counters_are_right()
