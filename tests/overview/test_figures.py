"""Every figure of the overview equals a recount, before and after the fold, and none of them looks at the letters."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection, transaction
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.memo import forget_all
from dashboard.models import Lane, Run
from dashboard.overview import charts
from dashboard.overview.figures import RANGES, Figures, gather
from dlq import retention, verbs
from dlq.api import Parked, park_events
from dlq.compaction import compact
from dlq.filters import LetterFilter
from dlq.models import CategoryBucket, DeadLetter, DepthSample
from dlq.queries.overview import cut
from dlq.sampling import take_sample
from projections.models import ForeignProjection, Projection
from tests.markup import read_html
from tests.tally.operations import start_tally

pytestmark = pytest.mark.django_db
Fail = Callable[..., None]
DAY = RANGES["24h"]


def look() -> Figures:
    return gather(DAY)


def test_open_letters_by_category_error_type_and_tier_and_the_oldest(fail: Fail) -> None:
    fail("billing", 3)
    fail("billing", 2, error_type="TimeoutError", error_message="late", ago=timedelta(hours=3))
    fail("ai", 4, error_type="MemoryError", category="poison")
    closed = list(
        DeadLetter.objects.filter(consumer="billing", error_type="ValueError").values_list("pk", flat=True)
    )
    with transaction.atomic():
        verbs.apply(verbs.VERBS["resolve"], closed[:1], actor="tests", reason="")
    for _ in range(2):
        letters = look().letters
        assert letters.number == DeadLetter.objects.open().count() == 8
        # Of equals by name, so that nothing changes places by itself.
        assert list(letters.by_error_type.items()) == [
            ("MemoryError", 4),
            ("TimeoutError", 2),
            ("ValueError", 2),
        ]
        assert sum(letters.by_category.values()) == 8
        assert letters.by_category["poison"] == 4
        assert letters.category_of["MemoryError"] == "poison"
        assert letters.poison_count == DeadLetter.objects.open().filter(tier="poison").count()
        assert letters.oldest
        assert letters.oldest.letter_id == DeadLetter.objects.filter(error_type="TimeoutError").first().pk  # type: ignore[union-attr]
        assert 10_700 < letters.oldest.waited_seconds < 10_900
        compact()


def test_parked_letters_are_counted_apart_also_when_nothing_before_them_is_open(
    viewer: Client, fail: Fail
) -> None:
    fail("billing", 1, sequence_key="order-1", sequence_no=1)
    park_events(
        [
            Parked(consumer="billing", event_id=f"p{number}", sequence_key="order-1", sequence_no=number)
            for number in (2, 3)
        ]
    )
    for open_count in (1, 0):
        letters = look().letters
        assert (letters.number, letters.parked_count) == (open_count, 2)
        assert sum(letters.by_category.values()) == sum(letters.by_error_type.values()) == open_count
        forget_all()
        assert '<a href="/dead-letters/letters/?status=parked">2 parked besides</a>' in read_html(
            viewer.get("/")
        )
        with transaction.atomic():
            head = DeadLetter.objects.get(sequence_no=1).pk
            verbs.apply(verbs.VERBS["discard"], [head], actor="tests", reason="gone")
        compact()


def test_failures_of_the_hour_and_the_day_and_over_time(fail: Fail) -> None:
    fail("billing", 5)
    fail("billing", 7, ago=timedelta(hours=5), error_type="ConnectionError", error_message="refused")
    fail("billing", 11, ago=timedelta(days=3))
    for _ in range(2):
        figures = look()
        assert (figures.recent.hour_count, figures.recent.day_count) == (5, 12)
        assert sum(map(sum, figures.history.failures.values())) == 12
        last = sum(values[-1] for values in figures.history.failures.values())
        before = sum(values[-2] for values in figures.history.failures.values())
        # A test that runs as a half hour begins finds some of them in the one before.
        assert last + before == 5
        assert sum(map(sum, gather(RANGES["7d"]).history.failures.values())) == 23
        compact()


def say_failures(counts: dict[int, int]) -> str:
    """Of so many in each part of the day, the last of which holds now."""
    figures = look()
    values = [counts.get(n, 0) for n in range(figures.slots.number)]
    history = replace(figures.history, failures={"permanent": values})
    return charts.draw_failures(replace(figures, history=history), DAY).sentence


def test_the_sentence_of_the_failures_says_when_most_failed_with_the_zone_once() -> None:
    part, last = r"from \d\d:\d\d to \d\d:\d\d UTC", r"since \d\d:\d\d UTC"
    assert re.fullmatch(rf"1 failed attempt, {part}: permanent\.", say_failures({9: 1}))
    assert re.fullmatch(rf"3 failed attempts, all {part}: permanent\.", say_failures({9: 3}))
    assert re.fullmatch(rf"1 failed attempt, {last}: permanent\.", say_failures({47: 1}))
    assert re.fullmatch(rf"7 failed attempts; the most {last}: 4, permanent\.", say_failures({9: 3, 47: 4}))


def test_a_part_of_a_range_begins_at_a_round_time_and_the_last_holds_now() -> None:
    for wanted in RANGES.values():
        slots = cut(wanted.span, wanted.step)
        assert slots.times[-2] <= timezone.now() < slots.times[-1]
        assert slots.span == wanted.span
        assert timezone.localtime(slots.start).minute in (0, 30)


def test_the_depth_is_what_was_sampled_and_unknown_where_nobody_looked(fail: Fail, viewer: Client) -> None:
    fail("billing", 4)
    take_sample(timezone.now() - timedelta(hours=10))
    fail("billing", 2, ago=timedelta(minutes=1))
    figures = look()
    depths = figures.history.depths
    assert [depth for depth in depths if depth is not None] == [4]
    chart = charts.draw_depth(figures, DAY)
    assert re.fullmatch(r"6 letters open, 2 more than at \d\d:\d\d UTC\.", chart.sentence)
    assert sum("unknown" in words for words in chart.words) == len(depths) - 2
    assert chart.words[-1].endswith("6 open")
    # Each of them has a column of its own, which is not one of height zero.
    assert chart.gaps.count("M") == len(depths) - 2
    assert ">unknown</li>" in read_html(viewer.get("/"))


def test_without_a_sample_the_past_is_not_known(fail: Fail) -> None:
    fail("billing")
    assert "before is unknown" in charts.draw_depth(look(), DAY).sentence


def test_a_sample_says_after_how_many_attempts(fail: Fail) -> None:
    for attempts, number in ((1, 3), (5, 2), (40, 1)):
        fail(f"c{attempts}", number, attempts=attempts)
    take_sample()
    letters = look().letters
    assert letters.by_attempts == {1: 3, 4: 2, 11: 1}
    shares = charts.share_attempts(letters)
    assert {share.label: share.number for share in shares} == {
        "1": 3,
        "2": 0,
        "3": 0,
        "4 to 5": 2,
        "6 to 10": 0,
        "11 or more": 1,
    }
    for share in shares:
        found = LetterFilter(QueryDict(share.query), user=AnonymousUser())
        assert found.is_valid()
        assert found.letters().count() == share.number, share.label


def test_the_oldest_letter_is_the_one_that_failed_first_however_often_it_was_tried_since(fail: Fail) -> None:
    fail("young", ago=timedelta(days=1))
    fail("old", first_failed_at=timezone.now() - timedelta(days=9), attempts=4)
    oldest = look().letters.oldest
    assert oldest is not None
    assert oldest.consumer == "old"
    assert oldest.waited_seconds > timedelta(days=8).total_seconds()


def test_projections_of_other_systems_are_counted_too_and_unknown_is_not_up_to_date(viewer: Client) -> None:
    Projection.objects.all().delete()
    now = timezone.now()
    row = ForeignProjection.objects.create(
        source="orders", name="totals", state="running", read_at=now, lag=0
    )
    assert "every projection is up to date" in read_html(viewer.get("/"))
    # What had only just come when it was read is on its way.
    ForeignProjection.objects.update(lag=3, oldest_at=now - timedelta(seconds=1))
    forget_all()
    assert "every projection is up to date" in read_html(viewer.get("/"))
    ForeignProjection.objects.update(lag=200, oldest_at=now - timedelta(minutes=3))
    forget_all()
    page = read_html(viewer.get("/"))
    assert "the only projection is behind" in page
    assert '<span class="badge info" title="">Behind</span>' in page
    assert '<p class="d">orders/totals: 200 events, 3 min</p>' in page
    ForeignProjection.objects.update(lag=1200)
    forget_all()
    page = read_html(viewer.get("/"))
    assert "the only projection needs you" in page
    assert '<p class="d">1 needs you; orders/totals: 1,200 events, 3 min</p>' in page
    assert f'href="/projections/foreign/{row.pk}/"' in page
    ForeignProjection.objects.update(read_at=now - timedelta(minutes=5))
    forget_all()
    page = read_html(viewer.get("/"))
    assert "the only projection may be behind" in page
    assert '<p class="n">unknown</p><p class="d">1 may be</p>' in page
    assert "up to date" not in page


def test_two_samples_of_the_same_five_minutes_are_one_and_the_later_counts(fail: Fail) -> None:
    at = timezone.now()
    take_sample(at)
    fail("billing")
    take_sample(at)
    assert DepthSample.objects.get().open_count == 1


def test_samples_and_buckets_are_forgotten() -> None:
    old = timezone.now() - timedelta(days=36)
    take_sample(old)
    take_sample()
    CategoryBucket.objects.create(starts_at=old, category="poison", number=1)
    retention.purge()
    assert DepthSample.objects.count() == 1
    assert not CategoryBucket.objects.exists()


def replay(*, dry_run: bool = False, **totals: int) -> None:
    run = start_tally(0)
    Run.objects.filter(pk=run.pk).update(kind="replay", options={"dry_run": dry_run})
    Lane.objects.filter(run=run).update(totals=totals)


def test_sent_is_not_done_and_a_dry_run_counts_for_nothing() -> None:
    replay(succeeded=995, same_error=4, new_error=1, sent=10, held=3)
    replay(succeeded=1)
    replay(succeeded=1000, dry_run=True)
    history = look().history
    assert charts.find_success_percent(history) == 99.5
    assert charts.draw_replays(look(), DAY).sentence == (
        "996 of 1,001 replayed letters succeeded. 10 more are sent, and nobody has said what became of them."
    )


@pytest.mark.parametrize(
    ("totals", "sentence"),
    [
        (
            {"succeeded": 1, "sent": 1},
            "1 of 1 replayed letters succeeded. 1 more is sent, and nobody has said what",
        ),
        ({"sent": 1}, "1 letter is sent, and nobody has said what became of it."),
        ({"sent": 3}, "3 letters are sent, and nobody has said what became of them."),
    ],
)
def test_what_is_only_sent_is_told_without_a_rate(totals: dict[str, int], sentence: str) -> None:
    replay(**totals)
    assert charts.draw_replays(look(), DAY).sentence.startswith(sentence)


def test_what_is_only_sent_is_not_nothing(viewer: Client) -> None:
    replay(sent=3)
    page = read_html(viewer.get("/"))
    assert '<p class="n">–</p><p class="d">3 sent and not confirmed in 24 hours</p>' in page
    assert "nothing was replayed" not in page


def test_nearly_all_is_not_all() -> None:
    replay(succeeded=99_999, same_error=1)
    assert charts.find_success_percent(look().history) == 99.9


def test_nothing_replayed_is_no_rate(viewer: Client) -> None:
    assert charts.find_success_percent(look().history) is None
    assert "nothing was replayed in 24 hours" in read_html(viewer.get("/"))


def ask(client: Client) -> list[str]:
    """The statements of the overview, as of now."""
    forget_all()
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/").status_code == 200
    return [query["sql"] for query in queries]


def test_it_asks_the_same_few_questions_however_many_letters_there_are(viewer: Client, fail: Fail) -> None:
    fail("billing", 3)
    take_sample()
    few = ask(viewer)
    fail("billing", 300, ago=timedelta(minutes=2))
    many = ask(viewer)
    assert len(many) == len(few) <= 45
    of_letters = [sql for sql in many if "dlq_deadletter" in sql]
    # The newest of each of the worst groups, and the oldest of all, by their indexes.
    assert len(of_letters) == 2
    assert all("LIMIT 1" in sql for sql in of_letters)


@pytest.mark.parametrize("name", RANGES)
def test_the_range_stands_in_the_address(viewer: Client, fail: Fail, name: str) -> None:
    fail("billing", 3)
    page: Any = viewer.get("/", {"range": name})
    assert page.status_code == 200
    assert f'hx-get="/?range={name}"' in read_html(page)


def test_an_unknown_range_is_refused_with_what_is_allowed(viewer: Client) -> None:
    page = viewer.get("/", {"range": "1y"})
    assert page.status_code == 400
    assert "it can be 24h or 7d" in read_html(page)
