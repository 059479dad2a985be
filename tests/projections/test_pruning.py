"""Forgetting the oldest events: never one that somebody needs, and everything else goes on being right."""

from collections.abc import Callable
from contextlib import nullcontext
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from projections import operations, picking
from projections.accounting import check_all, join_spans
from projections.declared import sync_declared
from projections.lag import get_lags
from projections.models import Event, Projection, Skip
from projections.operations import ProjectionStateError
from projections.picking import PickError, pick_events
from projections.pruning import forget_skips, prune_events
from projections.store import find_position, get_tail
from tests.dlq.conftest import someone
from tests.dlq.replay.conftest import run_all
from tests.shop.models import Balance

__all__ = ["someone"]

Pay = Callable[..., int]
Work = Callable[..., Projection]


@pytest.fixture
def all_have_come(work: Work) -> Callable[[], None]:
    """Every projection consumes what there is, and beat takes the account."""

    def come() -> None:
        # Two of them write the same balances; the one that minds what is there already comes first by name.
        for name in Projection.objects.order_by("name").values_list("name", flat=True):
            work(name)
        check_all()

    return come


def positions() -> list[int]:
    return list(Event.objects.order_by("position").values_list("position", flat=True))


def test_the_oldest_go_and_the_rest_has_no_gaps(pay: Pay, all_have_come: Callable[[], None]) -> None:
    pay("a", *range(1, 11))
    all_have_come()
    assert prune_events(keep=4) == 6
    assert positions() == [7, 8, 9, 10]
    assert get_tail() == 6
    assert prune_events(keep=4) == 0


def test_what_can_be_handled_again_is_counted_without_what_was_forgotten(
    pay: Pay, all_have_come: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    pay("a", *range(1, 11))
    all_have_come()
    prune_events(keep=4)
    for most, is_taken in ((4, True), (3, False)):
        monkeypatch.setattr(picking, "MOST_PICKED", most)
        with nullcontext() if is_taken else pytest.raises(PickError, match=r"^That is 4 events, and 3 can"):
            pick_events("letters")


def test_what_a_projection_has_not_come_to_stays(
    pay: Pay, work: Work, all_have_come: Callable[[], None]
) -> None:
    pay("a", *range(1, 6))
    all_have_come()
    Projection.objects.filter(name="letters").update(state="paused")
    pay("a", *range(6, 11))
    all_have_come()
    assert prune_events(keep=1) == 5
    assert positions() == [6, 7, 8, 9, 10]


def test_what_an_open_letter_stands_for_stays_and_all_behind_it(
    pay: Pay, all_have_come: Callable[[], None]
) -> None:
    pay("a", 1, 2)
    pay("b", 3, mark="x", how="ValueError")
    pay("c", 4, 5)
    # Ledgers would stop there.
    Projection.objects.exclude(name__in=["letters", "cache"]).delete()
    all_have_come()
    assert prune_events(keep=1) == 2
    assert positions() == [3, 4, 5]


def test_a_letter_and_an_event_that_waits_stay_before_the_account_begins_too(
    pay: Pay, work: Work, someone: User, all_have_come: Callable[[], None]
) -> None:
    Projection.objects.exclude(name__in=["letters", "notes"]).delete()
    pay("a", 1, 2)
    pay("b", 3, mark="x", how="breaker")
    pay("c", 4, mark="y", how="ValueError")
    pay("c", 5, 6)
    for first in (3, 4):
        all_have_come()
        row = Projection.objects.get(name="letters")
        run_all(operations.reset_checkpoint(row, 6, actor=someone, reason="", request_key=uuid4()))
        assert prune_events(keep=0) == (2 if first == 3 else 1)
        assert positions() == list(range(first, 7))
        row.waiting.all().delete()


def test_a_skip_keeps_nothing_back_and_cannot_be_brought_back_then(
    pay: Pay, someone: User, all_have_come: Callable[[], None]
) -> None:
    pay("a", 1, mark="x", how="ValueError")
    pay("b", 2, 3, 4)
    Projection.objects.exclude(name="cache").delete()
    all_have_come()
    assert prune_events(keep=1) == 3
    check_all()
    account = Projection.objects.get(name="cache").accounting
    assert (account["missing"], account["skipped"]) == (0, 1)
    with pytest.raises(ProjectionStateError, match="no longer has that event"):
        operations.bring_back_skip(Skip.objects.get(), actor=someone, reason="")


def test_forgotten_skips_are_still_accounted_for(
    pay: Pay, someone: User, all_have_come: Callable[[], None]
) -> None:
    pay("a", 1, mark="x", how="ValueError")
    pay("b", 2, 3)
    pay("c", 4, mark="x", how="ValueError")
    Projection.objects.exclude(name="cache").delete()
    all_have_come()
    assert prune_events(keep=2) == 2
    for _ in range(2):
        forget_skips()
        # The one whose event is still there.
        assert Skip.objects.get().position == 4
        check_all()
        row = Projection.objects.get(name="cache")
        account = row.accounting
        assert (account["missing"], account["skipped"], account["processed"]) == (0, 2, 2)
        join_spans(row)
    # From here on the account begins after the tail.
    run = operations.reset_checkpoint(row, 2, actor=someone, reason="", request_key=uuid4())
    assert run_all(run).state == "finished"
    all_have_come()
    row.refresh_from_db()
    assert (row.accounting["missing"], row.accounting["skipped"], row.accounting["processed"]) == (0, 1, 1)


def test_a_skip_before_the_account_begins_is_forgotten_without_a_trace(
    pay: Pay, someone: User, all_have_come: Callable[[], None]
) -> None:
    pay("a", 1, mark="x", how="ValueError")
    pay("b", 2, 3)
    Projection.objects.exclude(name="cache").delete()
    all_have_come()
    assert prune_events(keep=2) == 1
    row = Projection.objects.get(name="cache")
    run_all(operations.reset_checkpoint(row, 1, actor=someone, reason="", request_key=uuid4()))
    forget_skips()
    assert not Skip.objects.exists()
    all_have_come()
    row.refresh_from_db()
    assert (row.accounting["missing"], row.accounting["skipped"], row.accounting["processed"]) == (0, 0, 2)


def test_a_rebuild_begins_where_the_store_does_and_is_accounted_for(
    pay: Pay, work: Work, someone: User, all_have_come: Callable[[], None]
) -> None:
    Projection.objects.exclude(name__in=["quick-balances", "notes"]).delete()
    pay("a", 1, 2, 3)
    pay("n", 7, event_type="Noted")
    pay("b", 4, 5)
    all_have_come()
    assert prune_events(keep=2) == 4
    lags = {pk: lag.events for pk, lag in get_lags().items()}
    row = Projection.objects.get(name="quick-balances")
    run = operations.start_rebuild(row, actor=someone, reason="", request_key=uuid4())
    assert run.options["events"] == 2
    assert run_all(run).state == "finished"
    assert list(Balance.objects.values_list("account", "amount")) == [("b", 9)]
    check_all()
    row.refresh_from_db()
    assert (row.accounting["missing"], row.accounting["processed"], row.accounting_from) == (0, 2, 4)
    assert {pk: lag.events for pk, lag in get_lags().items()} == lags == dict.fromkeys(lags, 0)


def test_reset_knows_where_the_store_begins(
    pay: Pay, someone: User, all_have_come: Callable[[], None]
) -> None:
    pay("a", *range(1, 7))
    all_have_come()
    first_kept = Event.objects.get(position=5).recorded_at
    prune_events(keep=2)
    row = Projection.objects.get(name="letters")
    with pytest.raises(ProjectionStateError, match="events from 5 to 6"):
        operations.reset_checkpoint(row, 3, actor=someone, reason="", request_key=uuid4())
    assert find_position(first_kept) >= 4
    assert operations.reset_checkpoint(row, 4, actor=someone, reason="", request_key=uuid4())


def test_a_projection_that_is_new_begins_there_too(pay: Pay, all_have_come: Callable[[], None]) -> None:
    pay("a", *range(1, 7))
    all_have_come()
    prune_events(keep=2)
    Projection.objects.filter(name="letters").delete()
    sync_declared()
    all_have_come()
    row = Projection.objects.get(name="letters")
    assert (row.accounting["missing"], row.accounting["processed"]) == (0, 2)
