"""Which events of the store are meant, counted before anything is handled again."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.models import Run
from dlq.models import DeadLetter
from dlq.queries.reprocess import preview_reprocess
from dlq.reprocess.choice import EventChoice
from projections.accounting import check
from projections.api import PickError
from projections.models import Projection
from projections.models.event import Event
from tests.dlq.replay.conftest import ALL_EVENTS, run_all, totals
from tests.shop.models import Applied

Pay = Callable[..., int]
Work = Callable[..., Projection]
Reprocess = Callable[..., Run]


@pytest.mark.parametrize(
    ("choice", "positions"),
    [
        (ALL_EVENTS, [1, 2, 3, 4, 5]),
        (EventChoice("letters", stream="a"), [1, 3, 5]),
        (EventChoice("letters", types=("Paid",)), [1, 2, 3, 4]),
        (EventChoice("letters", stream="a", types=("Refunded",)), [5]),
    ],
)
def test_events_are_chosen_by_stream_and_type_and_handled_once_more(
    handled: None,
    reprocess: Reprocess,
    applied: Callable[[str], list[int]],
    choice: EventChoice,
    positions: list[int],
) -> None:
    assert preview_reprocess(choice).count == len(positions)
    run = run_all(reprocess(choice))
    assert run.state == "finished"
    assert totals(run) == {"succeeded": len(positions)}
    assert sorted(applied("letters")) == positions
    assert [p for p in applied("letters") if p in (1, 3, 5)] == [p for p in positions if p in (1, 3, 5)]
    # Nothing failed, so there is no letter, and the account of the events is as it was.
    assert not DeadLetter.objects.exists()
    assert check(Projection.objects.get(name="letters")).missing == 0


def test_events_are_chosen_by_time(handled: None, reprocess: Reprocess) -> None:
    start = timezone.now() - timedelta(hours=5)
    for position in range(1, 6):
        Event.objects.filter(position=position).update(recorded_at=start + timedelta(hours=position))
    at = {n: start + timedelta(hours=n) for n in range(1, 6)}
    assert preview_reprocess(EventChoice("letters", since=at[2], until=at[4])).count == 3
    assert preview_reprocess(EventChoice("letters", since=at[5])).count == 1
    assert preview_reprocess(EventChoice("letters", until=at[1] - timedelta(seconds=1))).count == 0
    with pytest.raises(PickError, match="ends before it begins"):
        preview_reprocess(EventChoice("letters", since=at[2], until=at[1]))


def test_what_comes_after_the_preview_is_not_touched(
    handled: None, reprocess: Reprocess, pay: Pay, work: Work, applied: Callable[[str], list[int]]
) -> None:
    found = preview_reprocess(ALL_EVENTS)
    pay("a", 9)
    work("letters")
    Applied.objects.all().delete()
    run_all(reprocess(watermark=found.watermark, confirmed=found.count))
    assert sorted(applied("letters")) == [1, 2, 3, 4, 5]


def test_what_the_projection_has_not_come_to_is_not_meant(handled: None, pay: Pay) -> None:
    pay("a", 9)
    assert preview_reprocess(ALL_EVENTS).count == 5


def test_what_the_projection_skipped_or_waits_with_is_left_out(handled: None, pay: Pay, work: Work) -> None:
    pay("c", 1, mark="c", how="breaker")
    pay("c", 2)
    pay("d", 1, mark="d", how="ValueError")
    for name in ("letters", "cache"):
        work(name)
    assert preview_reprocess(ALL_EVENTS).left_out == {"waiting": 2, "letter": 1}
    assert preview_reprocess(EventChoice("cache")).left_out == {"waiting": 2, "skipped": 1}


def test_more_than_a_page_can_count_is_a_rebuild(handled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("projections.picking.MOST_PICKED", 2)
    for choice in (ALL_EVENTS, EventChoice("letters", stream="a")):
        with pytest.raises(PickError, match="narrow it, or rebuild"):
            preview_reprocess(choice)
