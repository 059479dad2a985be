"""The counters equal a recount after anything, also while they are being folded."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dlq import compaction, retention, verbs
from dlq.api import Failure, Parked, park_events, record_failures
from dlq.compaction import compact
from dlq.models import CounterDelta, DeadLetter, FailureBucket
from dlq.queries import open_totals
from tests.dlq.conftest import T
from tests.dlq.counting import assert_counters_are_right

EVENTS = st.lists(st.integers(0, 12), min_size=1, max_size=6)


def record(numbers: list[int], salt: int) -> None:
    record_failures(
        Failure(
            consumer=f"c{n % 2}",
            event_id=f"e{n}",
            error_type=["ValueError", "MemoryError", "TimeoutError"][(n + salt) % 3],
            failed_at=T + timedelta(seconds=salt * 100 + n),
        )
        for n in numbers
    )


def park(numbers: list[int], salt: int) -> None:
    park_events(Parked(consumer="c0", event_id=f"e{n}", sequence_key="s") for n in numbers)


def do(verb: str) -> Callable[[list[int], int], None]:
    def apply(numbers: list[int], salt: int) -> None:
        ids = list(
            DeadLetter.objects.filter(event_id__in=[f"e{n}" for n in numbers]).values_list("pk", flat=True)
        )
        with transaction.atomic():
            verbs.apply(verbs.VERBS[verb], ids, actor="tests", reason="")

    return apply


def purge(numbers: list[int], salt: int) -> None:
    retention.purge_letters(timezone.now())


STEPS = {
    "record": record,
    "park": park,
    "fold": lambda numbers, salt: compact(),
    "purge": purge,
    **{verb: do(verb) for verb in verbs.VERBS},
}
SEQUENCES = st.lists(
    st.tuples(st.sampled_from(sorted(STEPS)), EVENTS, st.integers(0, 5)), min_size=1, max_size=12
)


@pytest.mark.django_db
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=SEQUENCES)
def test_counters_equal_a_recount_after_any_sequence_of_operations(steps: list[Any]) -> None:
    for name, numbers, salt in steps:
        STEPS[name](numbers, salt)
        assert_counters_are_right()
    assert open_totals().number == DeadLetter.objects.open().count()


@pytest.fixture
def folding() -> Iterator[None]:
    """Another connection that folds all the time."""
    stop = threading.Event()

    def fold() -> None:
        while not stop.is_set():
            compact()
        connection.close()

    thread = threading.Thread(target=fold)
    thread.start()
    yield
    stop.set()
    thread.join()


@pytest.mark.django_db(transaction=True)
def test_counters_are_right_at_every_moment_while_they_are_folded(folding: None) -> None:
    for salt in range(40):
        name = ["record", "resolve", "record", "discard", "restore"][salt % 5]
        STEPS[name](list(range(salt % 12 + 1)), salt)
        # One statement, so that it sees the letters before or after a fold, and never in between.
        assert open_totals().number == DeadLetter.objects.open().count()
    assert_counters_are_right()


@pytest.mark.django_db
def test_a_fold_takes_so_many_and_says_that_there_is_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "MOST_FOLDED", 2)
    for salt in range(5):
        STEPS["record"]([salt], salt)
    rounds = 0
    while compact():
        rounds += 1
        assert_counters_are_right()
    assert rounds >= 2
    assert not CounterDelta.objects.exists()
    assert not FailureBucket.objects.filter(width="raw").exists()
