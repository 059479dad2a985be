"""Every event up to the checkpoint is on record somewhere, or it is named."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from dlq.api import close_rebuilt
from dlq.models import DeadLetter
from projections import accounting
from projections.definition import find_projector
from projections.models import Projection, Span
from projections.runtime import turn
from projections.runtime.hand import LIVE
from projections.runtime.lock import lock_consumer
from projections.store import NewEvent, append, read

Pay = Callable[..., int]
Work = Callable[..., Projection]


@pytest.fixture
def busy(pay: Pay, work: Work) -> Projection:
    """A projection that has processed, ignored, dead-lettered and parked."""
    pay("a", 1, 2)
    append("a", [NewEvent("Noted", {})])
    pay("a", 3, mark="x", how="KeyError")
    pay("b", 4)
    pay("a", 5, 6)
    return work("letters")


def figures(account: accounting.Account) -> dict[str, int]:
    names = ("total", "processed", "ignored", "skipped", "dead_lettered", "parked", "waiting", "missing")
    return {name: getattr(account, name) for name in names if getattr(account, name)}


def test_the_equation_holds_by_the_evidence_itself(busy: Projection) -> None:
    account = accounting.check(busy)
    assert figures(account) == {"total": 7, "processed": 3, "ignored": 1, "dead_lettered": 1, "parked": 2}
    busy.refresh_from_db()
    assert busy.accounting["processed"] == 3


def test_a_skip_is_accounted_for(pay: Pay, work: Work) -> None:
    pay("a", 1, mark="x", how="ValueError")
    pay("a", 2)
    assert figures(accounting.check(work("cache"))) == {"total": 2, "processed": 1, "skipped": 1}


def test_an_event_that_waits_for_a_breaker_is_accounted_for(pay: Pay, work: Work) -> None:
    pay("a", 1, mark="x", how="breaker")
    pay("b", 2)
    assert figures(accounting.check(work("letters"))) == {"total": 2, "processed": 1, "waiting": 1}


def test_an_event_that_is_handled_while_its_page_looks_for_it_is_not_missed(pay: Pay, work: Work) -> None:
    pay("a", 1, mark="x", how="breaker")
    pay("b", 2)
    row = work("letters")

    def handle_before(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "projections_waitingevent w" in sql and row.waiting.exists():
            row.waiting.all().delete()
            row.spans.create(first=1, last=1)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(handle_before):
        assert figures(accounting.show(row)) == {"total": 2, "processed": 2}


def test_a_letter_that_was_deleted_is_missed_by_name(busy: Projection) -> None:
    DeadLetter.objects.get(position=4).delete()
    account = accounting.check(busy)
    event = read(after=3, types=[], limit=1)[0]
    assert account.missing == 1
    assert account.named == [
        {"position": 4, "event_id": str(event.event_id), "type": "Paid", "stream": "a"},
    ]


def test_an_event_that_a_read_dropped_is_missed_by_name(
    pay: Pay, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgetful(**kwargs: Any) -> Any:
        return [event for event in read(**kwargs) if event.position != 3]

    monkeypatch.setattr(turn, "read", forgetful)
    pay("a", 1, 2, 3, 4, 5)
    projector = find_projector("letters")
    assert projector is not None
    turn.take_turn(projector, LIVE, clock)
    account = accounting.check(Projection.objects.get(name="letters"))
    assert (account.processed, account.missing) == (4, 1)
    assert account.named[0]["position"] == 3


def test_a_closed_letter_may_be_purged_later_without_an_alarm(busy: Projection) -> None:
    letter = DeadLetter.objects.get(position=4)
    close_rebuilt("letters", [letter.event_id], source="native", closed_by="olga")
    accounting.check(busy)
    letter.delete()
    account = accounting.check(busy)
    assert figures(account) == {"total": 7, "processed": 3, "ignored": 1, "dead_lettered": 1, "parked": 2}


def test_spans_are_joined_and_say_the_same(busy: Projection, pay: Pay, work: Work) -> None:
    for number in range(5):
        pay("c", number)
        work("letters")
    before = figures(accounting.check(busy))
    assert busy.spans.count() > 2
    accounting.join_spans(busy)
    spans = list(busy.spans.order_by("first").values_list("first", "last", "ignored_count"))
    assert spans == [(1, 3, 1), (5, 5, 0), (8, 12, 0)]
    assert figures(accounting.check(busy)) == before


def test_spans_that_come_a_few_at_a_time_are_joined_too(
    pay: Pay, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounting, "JOIN_AFTER", 5)
    counts = []
    for _ in range(6):
        for _ in range(3):
            pay("a", 1)
            work("letters")
        accounting.check(Projection.objects.get(name="letters"))
        counts.append(Projection.objects.get(name="letters").spans.count())
    assert max(counts) <= 1 + 5 + 3
    assert 1 in counts


def test_holes_come_in_order_however_postgres_joins_them(busy: Projection) -> None:
    """What is pruned goes by the first of them, and a plan with another join may find another one first."""
    [holes] = accounting.list_holes(busy, [[5, 7], [1, 3]])
    assert [hole.position for hole in holes] == [1, 2, 3, 5, 6, 7]


def test_under_the_lock_only_closed_letters_are_looked_at(
    pay: Pay, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounting, "CHUNK", 1)
    for number in range(6):
        pay(f"stream {number}", 1, mark="x", how="KeyError")
    row = work("letters")
    assert figures(accounting.check(row)) == {"total": 6, "dead_lettered": 6}
    close_rebuilt("letters", [DeadLetter.objects.get(position=3).event_id], source="native", closed_by="olga")
    with CaptureQueriesContext(connection) as queries:
        assert figures(accounting.check(row)) == {"total": 6, "dead_lettered": 6}
    texts = [query["sql"] for query in queries]
    lock = next(number for number, text in enumerate(texts) if "pg_advisory_xact_lock" in text)
    looks = [number for number, text in enumerate(texts) if "projections_waitingevent" in text]
    assert (len([n for n in looks if n < lock]), len([n for n in looks if n > lock])) == (6, 1)
    # It is settled: nobody misses it when it is purged.
    DeadLetter.objects.get(position=3).delete()
    assert figures(accounting.check(row)) == {"total": 6, "dead_lettered": 6}


def test_an_account_does_not_wait_for_a_batch_that_takes_long(
    busy: Projection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounting, "LOCK_SECONDS", 0.1)
    letter = DeadLetter.objects.get(position=4)
    close_rebuilt("letters", [letter.event_id], source="native", closed_by="olga")
    Span.objects.filter(projection=busy, first=1).delete()
    found: list[accounting.Account] = []

    def check() -> None:
        found.append(accounting.check(busy))
        connection.close()

    with transaction.atomic():
        lock_consumer("letters")
        thread = threading.Thread(target=check, daemon=True)
        thread.start()
        thread.join(30)
        assert [account.missing for account in found] == [3]
    busy.refresh_from_db()
    assert busy.accounting["missing"] == 3
    assert not busy.spans.filter(closed_count__gt=0).exists()
    accounting.check(busy)
    assert busy.spans.filter(closed_count__gt=0).exists()
