"""Resolve, discard, restore and erase: exactly what was confirmed, once, on record."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from dashboard.models import AuditEntry
from dlq.api import Parked, park_events
from dlq.filters import LetterFilter
from dlq.models import Attempt, DeadLetter, FailureGroup, LetterRunItem, Override
from dlq.operations import ConfirmAgain, Done, ReasonMissing
from dlq.preview import preview
from dlq.selection import SelectionError, select_group, select_ids, select_matching
from dlq.verbs import VERBS
from tests.dlq.counting import assert_counters_are_right

pytestmark = pytest.mark.django_db

Do = Callable[..., Done]
Make = Callable[..., list[DeadLetter]]


def statuses() -> list[str]:
    return list(DeadLetter.objects.order_by("pk").values_list("status", flat=True))


@pytest.mark.parametrize(("verb", "status"), [("resolve", "resolved"), ("discard", "discarded")])
def test_closing_closes_with_actor_time_and_reason(
    do: Do, make_letters: Make, verb: str, status: str
) -> None:
    letters = make_letters(3)
    done = do(verb, select_ids([letter.pk for letter in letters[:2]]), 2, reason="fixed by hand")
    assert (done.count, done.moved_count, done.run) == (2, 0, None)
    assert statuses() == [status, status, "failed"]
    letter = DeadLetter.objects.get(pk=letters[0].pk)
    assert (letter.closed_by, letter.close_reason) == ("someone", "fixed by hand")
    assert letter.closed_at is not None
    assert_counters_are_right()


def test_it_is_audited(do: Do, make_letters: Make) -> None:
    letters = make_letters(1)
    do("discard", select_ids([letters[0].pk]), 1, reason="a test order")
    entry = AuditEntry.objects.get(action="letter.discard")
    assert (entry.actor, entry.reason, entry.outcome) == ("someone", "a test order", "succeeded")
    assert entry.details == {"letters": [letters[0].pk], "count": 1, "moved": 0}


def test_twice_is_once_and_what_moved_is_reported(do: Do, make_letters: Make) -> None:
    selection = select_ids([letter.pk for letter in make_letters(2)])
    do("resolve", selection, 2)
    again = do("discard", selection, 2)
    assert (again.count, again.moved_count) == (0, 2)
    assert statuses() == ["resolved", "resolved"]


def test_all_matching_means_what_was_counted_and_nothing_newer(
    do: Do, make_letters: Make, open_filter: LetterFilter
) -> None:
    make_letters(3)
    selection = select_matching(open_filter)
    make_letters(1, event_id="newer")
    assert do("resolve", selection, 3).count == 3
    assert DeadLetter.objects.get(event_id="newer").status == "failed"


def test_if_it_is_no_longer_what_was_confirmed_nothing_happens(
    do: Do, make_letters: Make, open_filter: LetterFilter
) -> None:
    letters = make_letters(3)
    selection = select_matching(open_filter)
    do("resolve", select_ids([letters[0].pk]), 1)
    with pytest.raises(ConfirmAgain) as raised:
        do("discard", selection, 3)
    assert raised.value.now == 2
    assert statuses() == ["resolved", "failed", "failed"]
    assert AuditEntry.objects.filter(action="letter.discard", outcome="failed").exists()


def test_a_discarded_event_stays_given_up_until_it_is_restored(do: Do, make_letters: Make) -> None:
    selection = select_ids([letter.pk for letter in make_letters(2)])
    do("discard", selection, 2, reason="never mind")
    assert list(Override.objects.values_list("kind", "reason")) == [("discarded", "never mind")] * 2
    do("restore", selection, 2)
    assert not Override.objects.exists()
    assert statuses() == ["failed", "failed"]
    assert not DeadLetter.objects.exclude(closed_at=None).exists()
    assert_counters_are_right()


def test_discarding_needs_a_reason_and_so_does_closing_for_a_critical_consumer(
    do: Do, make_letters: Make, settings: Any
) -> None:
    selection = select_ids([letter.pk for letter in make_letters(1)])
    with pytest.raises(ReasonMissing):
        do("discard", selection, 1, reason=" ")
    settings.CRITICAL_CONSUMERS = {"billing"}
    with pytest.raises(ReasonMissing):
        do("resolve", selection, 1, reason="")
    settings.CRITICAL_CONSUMERS = set()
    assert do("resolve", selection, 1, reason="").count == 1


def test_followers_are_counted_and_closed_along_or_kept(do: Do, make_letters: Make) -> None:
    [head] = make_letters(1, sequence_key="order-1", sequence_no=2)
    park_events(
        Parked(consumer="billing", event_id=f"p{n}", sequence_key="order-1", sequence_no=n) for n in (1, 3, 4)
    )
    selection = select_ids([head.pk])
    assert preview(VERBS["discard"], selection).follower_count == 2
    do("discard", selection, 1)
    assert DeadLetter.objects.filter(status="parked").count() == 3
    do("restore", selection, 1)
    assert do("discard", selection, 3, with_followers=True).count == 3
    assert DeadLetter.objects.get(status="parked").event_id == "p1"
    do(
        "restore",
        select_ids(list(DeadLetter.objects.exclude(closed_at=None).values_list("pk", flat=True))),
        3,
    )
    assert DeadLetter.objects.filter(status="parked").count() == 3
    assert_counters_are_right()


def test_what_waits_behind_a_closed_letter_does_not_follow_those_that_are_closed_now(
    do: Do, make_letters: Make
) -> None:
    closed, other = make_letters(1, sequence_key="order-1", sequence_no=1)[0], make_letters(2)[1]
    park_events([Parked(consumer="billing", event_id="p", sequence_key="order-1", sequence_no=2)])
    do("resolve", select_ids([closed.pk]), 1)
    both = select_ids([closed.pk, other.pk])
    found = preview(VERBS["resolve"], both)
    assert (found.count, found.follower_count) == (1, 0)
    assert do("resolve", both, 1, with_followers=True).count == 1
    assert DeadLetter.objects.get(event_id="p").status == "parked"


def test_a_preview_names_consumers_critical_ones_and_letters_in_runs(
    make_letters: Make, settings: Any
) -> None:
    settings.CRITICAL_CONSUMERS = {"ledger"}
    letters = [*make_letters(2), *make_letters(3, consumer="ledger")]
    LetterRunItem.objects.create(run_id=12, lane=0, letter=letters[0])
    found = preview(VERBS["resolve"], select_ids([letter.pk for letter in letters]))
    assert (found.count, found.in_run_count, found.run_ids) == (4, 1, [12])
    assert found.critical == [("ledger", 3)]
    assert found.needs_reason
    assert not found.is_run(with_followers=False)


def test_closing_a_group_makes_its_next_failure_a_regression(do: Do, make_letters: Make) -> None:
    group = make_letters(3)[0].group
    assert group is not None
    assert do("resolve", select_group(group), 3).count == 3
    assert AuditEntry.objects.get(action="letter.resolve").subject == str(group)
    make_letters(1, event_id="again", failed_at=None)
    group = FailureGroup.objects.get()
    assert group.regressed_at is not None


def test_erasing_keeps_the_record_and_nothing_that_came_with_the_event(do: Do, make_letters: Make) -> None:
    [letter] = make_letters(
        1, payload={"email": "a@b.example"}, headers={"k": "v"}, error_message="bad a@b.example"
    )
    do("erase", select_ids([letter.pk]), 1)
    letter = DeadLetter.objects.select_related("body").get()
    assert (letter.status, letter.summary, letter.body.payload, letter.body.headers) == (
        "failed",
        "ValueError",
        None,
        {},
    )
    assert letter.erased_at is not None
    assert "a@b" not in f"{letter.body.error_message}{letter.body.words}{Attempt.objects.get().error_message}"


def test_a_bounded_search_cannot_be_selected(
    someone: User, make_letters: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_letters(3)
    monkeypatch.setattr("dlq.selection.MOST_SEARCHED", 2)
    form = LetterFilter({"words": "bad"}, user=someone)
    assert form.is_valid()
    with pytest.raises(SelectionError, match="instead"):
        select_matching(form)
