"""The groups page's queries."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.http import Http404
from django.utils import timezone

from dlq.api import Failure, Parked, park_events, record_failures
from dlq.compaction import compact
from dlq.models import DeadLetter, FailureGroup
from dlq.queries import count_tabs, get_group, get_letter, list_groups, open_totals

pytestmark = pytest.mark.django_db


def fail(number: int, error_type: str, at: datetime | None = None, **fields: Any) -> FailureGroup:
    failures = [
        Failure(consumer="c", event_id=f"{error_type}-{n}", error_type=error_type, failed_at=at, **fields)
        for n in range(number)
    ]
    letter_id = record_failures(failures)[0]
    group = DeadLetter.objects.get(pk=letter_id).group
    assert group is not None
    return group


def titles(tab: str) -> list[str]:
    return [row.group.title for row in list_groups(tab).rows]


def test_each_tab_is_a_query_worst_first() -> None:
    yesterday = timezone.now() - timedelta(days=2)
    fail(3, "Three", yesterday)
    fail(1, "One")
    muted = fail(2, "Muted")
    FailureGroup.objects.filter(pk=muted.pk).update(is_muted=True)
    regressed = fail(2, "Back", yesterday)
    FailureGroup.objects.filter(pk=regressed.pk).update(regressed_at=timezone.now())
    fail(4, "MemoryError", yesterday)
    fail(2, "Gone", yesterday)
    DeadLetter.objects.filter(error_type="Gone").update(status="resolved")
    for _ in range(2):
        assert titles("open") == ["MemoryError", "Three", "Back", "One"]
        assert titles("new") == ["One"]
        assert titles("regressed") == ["Back"]
        assert titles("poison") == ["MemoryError"]
        assert titles("muted") == ["Muted"]
        assert titles("closed") == ["Gone"]
        assert count_tabs() == {
            "open": 4,
            "new": 1,
            "regressed": 1,
            "poison": 1,
            "muted": 1,
            "closed": 1,
            "with_open": 5,
        }
        compact()


def test_a_page_takes_the_same_statements_whatever_there_is(django_assert_num_queries: Any) -> None:
    fail(1, "One")
    with django_assert_num_queries(5):
        list_groups()
    for n in range(30):
        fail(n, f"Error{'x' * n}") if n else None
    with django_assert_num_queries(5):
        list_groups()


def test_pages_follow_each_other() -> None:
    for n in range(1, 8):
        fail(n, f"Error{'x' * n}")
    first = list_groups(size=3)
    second = list_groups(after=first.after, size=3)
    third = list_groups(after=second.after, size=3)
    counts = [row.open_count for page in (first, second, third) for row in page.rows]
    assert counts == [7, 6, 5, 4, 3, 2, 1]
    assert third.after == ""


def test_a_row_tells_what_the_group_blocks_since_when_and_in_which_versions() -> None:
    hour_ago = timezone.now() - timedelta(hours=1)
    fail(2, "Blocks", hour_ago, sequence_key="s1", app_version="1.7")
    fail(3, "Blocks", sequence_key="s1", app_version="1.8")
    park_events([Parked(consumer="c", event_id=f"p{n}", sequence_key="s1") for n in range(4)])
    compact()
    row = list_groups().rows[0]
    assert (row.group.blocked_sequence_count, row.group.parked_count) == (1, 4)
    assert row.versions == ["1.8", "1.7"]
    assert row.first_at == hour_ago
    assert sum(row.sparkline) == 5
    assert len(row.sparkline) == 24
    assert row.badge == "new" or hour_ago.date() != timezone.now().date()


def test_only_what_is_open_is_new() -> None:
    fail(1, "Gone")
    assert list_groups().rows[0].badge == "new"
    DeadLetter.objects.update(status="resolved")
    assert list_groups("closed").rows[0].badge == ""


def test_a_group_in_detail() -> None:
    group = fail(3, "Blocks", sequence_key="s1", event_type="Paid", app_version="1.8")
    record_failures([Failure(consumer="other", event_id="x", error_type="Blocks")])
    park_events([Parked(consumer="c", event_id="p", sequence_key="s1")])
    detail = get_group(group.pk)
    assert detail.event_types == [("Paid", 3)]
    assert detail.versions == [("1.8", 3)]
    assert [(s.key, s.open_count, s.parked_count) for s in detail.sequences] == [("s1", 3, 1)]
    assert [row.group.consumer for row in detail.elsewhere] == ["other"]
    assert sum(detail.histogram) == 3
    assert len(detail.samples) == 3
    with pytest.raises(Http404):
        get_group(0)


def test_a_letter_knows_its_neighbours() -> None:
    record_failures(
        [Failure(consumer="c", event_id=f"e{n}", sequence_key="s", sequence_no=n) for n in (1, 2)]
    )
    park_events([Parked(consumer="c", event_id=f"p{n}", sequence_key="s", sequence_no=n) for n in (3, 4)])
    detail = get_letter(DeadLetter.objects.get(event_id="e2").pk)
    assert [letter.event_id for letter in detail.before] == ["e1"]
    assert [letter.event_id for letter in detail.after] == ["p3", "p4"]
    assert (detail.open_before_count, detail.follower_count) == (1, 2)
    assert len(detail.attempts) == 1


def test_open_totals_come_from_the_counters() -> None:
    fail(2, "KeyError")
    fail(1, "TimeoutError")
    totals = open_totals()
    assert (totals.number, totals.by_category) == (3, {"permanent": 2, "transient": 1})
