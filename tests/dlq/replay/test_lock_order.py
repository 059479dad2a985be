"""Locks are taken in one order where they can be; where they cannot, whoever has to give way is told so."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Run
from dlq.api import Failure
from dlq.classification import Classifier
from dlq.models import DeadLetter, LetterRunItem
from dlq.recording.groups import add_facets, add_groups
from dlq.recording.prepare import prepare_failure
from dlq.recording.record import record
from projections.models import Projection
from projections.operations import start_rebuild
from tests.dlq.replay.conftest import run_all, totals
from tests.dlq.replay.test_confirming import call_back, sent_items, sequence, theirs
from tests.dlq.replay.test_replay_pages import confirm
from tests.wait import count_waiting, until

__all__ = ["theirs"]


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_a_failure_that_is_reported_while_it_is_called_back_is_no_deadlock(
    theirs: dict[str, Any],
    make_letters: Callable[..., list[DeadLetter]],
    start: Callable[..., Run],
    caplog: pytest.LogCaptureFixture,
) -> None:
    sequence(make_letters, "")
    run = run_all(start(), rounds=2)
    [item] = sent_items(run)
    said = {"error_type": "OrderRefused", "error_message": "no such order"}
    told = Failure(consumer="billing", event_id="s1", source="kafka", failed_at=timezone.now(), **said)
    call_back(item, outcome="failed", **said)

    def settle() -> None:
        run_all(run)
        connection.close()

    with transaction.atomic():
        # As far as a recorder comes before it looks for the letter.
        batch = [prepare_failure(told, Classifier())]
        add_facets(batch)
        add_groups(batch)
        other = threading.Thread(target=settle)
        other.start()
        until(count_waiting)
        record(batch)
    other.join()
    assert "deadlock" not in caplog.text
    assert totals(run) == {"new_error": 1}
    assert DeadLetter.objects.get().error_type == "OrderRefused"


def test_of_two_who_take_the_same_letters_crosswise_one_is_told_that_nothing_was_changed(
    operator: Client, fail: Callable[..., None]
) -> None:
    fail("a", "b", events=1)
    first, second = DeadLetter.objects.order_by("pk")
    _, form = confirm(operator, f"id={first.pk}&id={second.pk}")
    operator.raise_request_exception = False
    answers: list[HttpResponse] = []

    def start() -> None:
        execute("SET deadlock_timeout = '2s'")
        answers.append(operator.post(reverse("dlq:replay"), form | {"id": [first.pk, second.pk]}))
        connection.close()

    with transaction.atomic():
        LetterRunItem.objects.create(run_id=99, lane=0, letter=second)
        other = threading.Thread(target=start)
        other.start()
        until(count_waiting)
        # The other finds out first that they wait for each other.
        execute("SET LOCAL deadlock_timeout = '1min'")
        LetterRunItem.objects.create(run_id=99, lane=0, letter=first)
    other.join()
    [answer] = answers
    assert answer.status_code == 409
    assert "Nothing was changed. Send it again" in answer.content.decode()
    assert not Run.objects.exists()


def test_a_rebuild_and_whoever_closes_its_letters_are_no_deadlock(
    fail: Callable[..., None], mend: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    fail("a", "b", events=1)
    closed, failing = DeadLetter.objects.order_by("pk")
    mend(closed.sequence_key)
    row = Projection.objects.get(name="letters")
    run = start_rebuild(row, actor="olga", reason="", request_key=uuid4())

    is_locked = threading.Event()

    def close() -> None:
        try:
            # By id, as a verb does.
            with transaction.atomic():
                DeadLetter.objects.select_for_update().get(pk=closed.pk)
                is_locked.set()
                until(count_waiting)
                DeadLetter.objects.select_for_update().get(pk=failing.pk)
        except OperationalError as error:
            gave_way.append(error)
        connection.close()

    gave_way: list[OperationalError] = []
    other = threading.Thread(target=close)
    other.start()
    until(is_locked.is_set)
    run_all(run)
    other.join()
    assert not gave_way
    assert "deadlock" not in caplog.text
    assert run.state == "finished"
    assert list(DeadLetter.objects.order_by("pk").values_list("status", flat=True)) == ["resolved", "failed"]
