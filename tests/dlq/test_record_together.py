"""Several processes record overlapping batches in random order, while the counters are folded under their hands."""

from pathlib import Path
from typing import Any

import pytest

from dlq.compaction import compact
from dlq.models import Attempt, DeadLetter
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
