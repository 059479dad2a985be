"""The letters page's queries: every filter, both orders, honest counts, bounded searches."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models import Q, UniqueConstraint
from django.http import QueryDict

from dashboard.actions import ADMIN, VIEWER
from dashboard.models import Run
from dashboard.paging import write_cursor
from dlq import filters
from dlq.api import Failure, Parked, park_events, record_failures
from dlq.filters import LetterFilter
from dlq.models import DeadLetter, LetterRunItem
from dlq.queries import count_letters, letters, list_letters
from dlq.selection import SelectionError, select_matching

pytestmark = pytest.mark.django_db

T = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture
def user(make_user: Any) -> Any:
    return make_user(role=ADMIN)


@pytest.fixture
def some_letters() -> list[int]:
    failures = [
        Failure(
            consumer=f"consumer-{n % 2}",
            source="shop" if n % 2 else "native",
            event_id=f"e{n}",
            event_type=f"Type{n % 3}",
            error_type="KeyError" if n % 5 == 0 else "TimeoutError",
            error_message=f"order {n} is {'lost' if n == 7 else 'late'}",
            payload={"order": {"id": n, "tags": [f"tag-{n}", "all"]}},
            sequence_key=f"order-{n % 4}",
            sequence_no=n,
            trace_id=f"trace-{n}",
            tenant=f"tenant-{n % 2}",
            attempts=n + 1,
            failed_at=T + timedelta(minutes=n),
        )
        for n in range(20)
    ]
    return record_failures(failures)


def find(user: Any, page: str = "", **wanted: Any) -> list[str]:
    form = LetterFilter(wanted, user=user)
    assert form.is_valid(), form.errors
    found = [letter.event_id for letter in list_letters(form, QueryDict(page)).page.rows]
    count = count_letters(form)
    if not page:
        assert count.number == len(found) == form.matching().count()
    return found


def test_a_consumer_is_found_by_the_name_that_pages_give_it(user: Any, some_letters: list[int]) -> None:
    assert find(user, consumer="shop/consumer-1") == find(user, source="shop", consumer="consumer-1") != []
    assert find(user, consumer="native/consumer-1") == []
    assert find(user, consumer="elsewhere/consumer-1") == []
    # A name of its own, whatever stands before the slash.
    record_failures([Failure(consumer="shop/consumer-1", event_id="own", failed_at=T)])
    assert find(user, consumer="shop/consumer-1") == ["own"]


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        ({}, range(20)),
        ({"consumer": "consumer-1"}, range(1, 20, 2)),
        ({"source": "shop"}, range(1, 20, 2)),
        ({"event_type": "Type0"}, range(0, 20, 3)),
        ({"error_type": "KeyError"}, range(0, 20, 5)),
        ({"category": "permanent"}, range(0, 20, 5)),
        ({"tenant": "tenant-0"}, range(0, 20, 2)),
        ({"tier": "poison"}, []),
        ({"sequence": "order-3"}, range(3, 20, 4)),
        ({"event_id": "e4"}, [4]),
        ({"trace_id": "trace-4"}, [4]),
        ({"attempts": "19"}, [18, 19]),
        ({"since": "2026-11-01T12:05:00Z", "until": "2026-11-01T12:08:00Z"}, [5, 6, 7]),
        ({"words": "LOST order"}, [7]),
        ({"words": "keyerror"}, range(0, 20, 5)),
        ({"path": "$.order.id", "value": "3"}, [3]),
        ({"path": "order.tags[*]", "value": "tag-3"}, [3]),
        ({"path": "$.order.tags[*]", "value": "all", "consumer": "consumer-0"}, range(0, 20, 2)),
        ({"status": "closed"}, []),
        ({"status": "parked"}, []),
        ({"status": "open", "words": "lost"}, [7]),
        ({"status": "any", "words": "lost"}, [7]),
    ],
)
def test_each_filter_finds_its_letters_newest_first(
    user: Any, some_letters: list[int], wanted: dict[str, str], numbers: Any
) -> None:
    assert find(user, **wanted) == [f"e{n}" for n in sorted(numbers, reverse=True)]


@pytest.mark.parametrize("field", sorted(set(filters.EQUAL.values())))
def test_each_value_that_is_filtered_by_is_found_in_the_whole_history_by_an_index(field: str) -> None:
    column = DeadLetter._meta.get_field(field).name
    whole = (None, ~Q(**{field: ""}))
    indexes = [index for index in DeadLetter._meta.indexes if index.condition in whole]
    keys = [key for key in DeadLetter._meta.constraints if isinstance(key, UniqueConstraint)]
    assert column in {one.fields[0] for one in (*indexes, *keys)}


def test_a_group_is_a_filter_too(user: Any, some_letters: list[int]) -> None:
    letter = DeadLetter.objects.get(event_id="e5")
    assert "e5" in find(user, group=letter.group_id)


def test_oldest_first_turns_the_pages_round(user: Any, some_letters: list[int], monkeypatch: Any) -> None:
    assert find(user, "order=oldest")[:2] == ["e0", "e1"]


def test_parked_letters_are_listed_when_asked_for(user: Any) -> None:
    park_events([Parked(consumer="c", event_id="p1", sequence_key="s")])
    assert find(user) == []
    assert find(user, status="parked") == ["p1"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"path": "$..x"}, "not a path"),
        ({"value": "3"}, "Its payload path is missing"),
        ({"path": " ", "value": "3"}, "Its payload path is missing"),
        ({"path": "$.order.id"}, "Say which value"),
        ({"words": "..."}, "no word"),
        ({"status": "odd"}, "can be open, parked, resolved"),
    ],
)
def test_what_makes_no_sense_is_said_so(user: Any, wanted: dict[str, str], message: str) -> None:
    assert message in str(LetterFilter(wanted, user=user).errors)


def test_common_words_are_searched_for_page_by_page_and_nothing_is_missed(
    user: Any, some_letters: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filters, "MOST_BODIES", 3)
    monkeypatch.setattr(letters, "WINDOW", 4)
    form = LetterFilter({"words": "keyerror"}, user=user)
    assert form.is_valid()
    assert count_letters(form).sentence == "How many match was not counted; that would take too long."
    found, query = [], ""
    while True:
        answer = list_letters(form, QueryDict(query))
        found += [letter.event_id for letter in answer.page.rows]
        if not answer.page.after:
            break
        assert answer.is_bounded
        query = f"after={answer.page.after.replace('+', '%2B')}"
    assert found == ["e15", "e10", "e5", "e0"]


@pytest.mark.parametrize(("words", "events"), [("", "2 5 10 15"), ("keyerror", "5 10 15")])
def test_the_letters_of_a_large_run_are_looked_for_part_by_part(
    user: Any, some_letters: list[int], monkeypatch: pytest.MonkeyPatch, words: str, events: str
) -> None:
    run = Run.objects.create(kind="replay", title="Replay 4 letters", request_key=uuid4())
    for number in (2, 5, 10, 15):
        LetterRunItem.objects.create(run=run, lane=0, letter_id=some_letters[number], is_active=False)
    wanted = {"run": str(run.pk), "status": "any"} | ({"words": words} if words else {})
    expected = [f"e{number}" for number in reversed(events.split())]
    assert find(user, **wanted) == expected
    monkeypatch.setattr(filters, "MOST_BODIES", 3)
    monkeypatch.setattr(letters, "WINDOW", 4)
    form = LetterFilter(wanted, user=user)
    assert form.is_valid()
    assert count_letters(form).number is None
    found, query = [], ""
    while True:
        answer = list_letters(form, QueryDict(query))
        found += [letter.event_id for letter in answer.page.rows]
        if not answer.page.after:
            break
        assert answer.is_bounded
        query = f"after={answer.page.after.replace('+', '%2B')}"
    assert found == expected
    monkeypatch.setattr("dlq.selection.MOST_SEARCHED", 3)
    with pytest.raises(SelectionError, match="or were in this run"):
        select_matching(form)


def test_common_words_are_searched_for_on_the_way_back_too(
    user: Any, some_letters: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filters, "MOST_BODIES", 3)
    monkeypatch.setattr(letters, "WINDOW", 2)
    form = LetterFilter({"words": "keyerror"}, user=user)
    assert form.is_valid()
    oldest = list_letters(form, QueryDict("order=oldest")).page.rows[0]
    found, cursor = [], write_cursor(oldest, "last_failed_at")
    while cursor:
        page = list_letters(form, QueryDict(f"before={cursor.replace('+', '%2B')}")).page
        found += [letter.event_id for letter in reversed(page.rows)]
        cursor = page.before
    assert [oldest.event_id, *found] == ["e0", "e5", "e10", "e15"]


def test_a_count_over_the_limit_says_over(
    user: Any, some_letters: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letters, "MOST_COUNTED", 5)
    form = LetterFilter({"attempts": 1}, user=user)
    assert form.is_valid()
    assert count_letters(form).sentence == "Over 5 match."


def test_a_viewer_may_not_filter_on_masked_paths(make_user: Any, settings: Any) -> None:
    settings.MASKED_PATHS = ["$.customer.email"]
    viewer = make_user(role=VIEWER)
    for path in ("$.customer.email", "$.customer", "customer.email.domain", "customer[*].email"):
        assert "masked" in str(LetterFilter({"path": path, "value": "x"}, user=viewer).errors)
    assert LetterFilter({"path": "$.customer.id", "value": "x"}, user=viewer).is_valid()


def test_a_count_that_would_take_long_is_given_up(
    user: Any, some_letters: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    form = LetterFilter({"attempts": 1, "status": "any"}, user=user)
    assert form.is_valid()

    def slow(execute: Any, sql: str, *rest: Any) -> Any:
        return execute(sql.replace("COUNT(*)", "COUNT(*) + length(pg_sleep(10)::text)"), *rest)

    monkeypatch.setattr(letters, "COUNT_SECONDS", 0.05)
    with connection.execute_wrapper(slow):
        assert count_letters(form).sentence == "How many match was not counted; that would take too long."
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('statement_timeout'), current_setting('enable_bitmapscan')")
        assert cursor.fetchone() == ("0", "on")
