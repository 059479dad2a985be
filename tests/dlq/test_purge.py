"""Retention: closed letters go if a setting says so, with all that belongs to them; open ones never."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from dashboard.models import Lane, Run
from dlq.compaction import compact
from dlq.models import (
    Attempt,
    Confirmation,
    Counter,
    DeadLetter,
    FailureGroup,
    GroupFacet,
    LetterBody,
    LetterRunItem,
)
from dlq.retention import purge, purge_letters
from tests.dlq.counting import assert_counters_are_right

pytestmark = pytest.mark.django_db

Make = Callable[..., list[DeadLetter]]


@pytest.fixture
def letters(make_letters: Make) -> list[DeadLetter]:
    """Two closed long ago, one closed today, one open."""
    letters = make_letters(4, app_version="1.8")
    long_ago = timezone.now() - timedelta(days=31)
    DeadLetter.objects.filter(pk__in=[letters[0].pk, letters[1].pk]).update(
        status="resolved", closed_at=long_ago
    )
    DeadLetter.objects.filter(pk=letters[2].pk).update(status="resolved", closed_at=timezone.now())
    return letters


def test_nothing_is_purged_unless_somebody_says_so(letters: list[DeadLetter]) -> None:
    purge()
    assert DeadLetter.objects.count() == 4


def test_closed_letters_are_purged_after_their_time_and_open_ones_never(
    letters: list[DeadLetter], settings: Any
) -> None:
    settings.KEEP_CLOSED_DAYS = 30
    purge()
    for model, name in ((DeadLetter, "pk"), (LetterBody, "letter_id"), (Attempt, "letter_id")):
        kept = set(model.objects.values_list(name, flat=True))
        assert kept == {letters[2].pk, letters[3].pk}
    assert_counters_are_right()


def make_run(letter: DeadLetter, *, days_ago: int | None, state: str = "finished") -> LetterRunItem:
    """A run with one item, about which somebody has called back."""
    ended_at = None if days_ago is None else timezone.now() - timedelta(days=days_ago)
    run = Run.objects.create(kind="replay", request_key=uuid4(), state=state, ended_at=ended_at)
    Lane.objects.create(run=run, number=0)
    item = LetterRunItem.objects.create(run=run, lane=0, letter=letter, is_active=days_ago is None)
    Confirmation.objects.create(item=item, outcome="succeeded")
    return item


def test_items_of_runs_that_ended_long_ago_go_with_what_was_called_back(letters: list[DeadLetter]) -> None:
    make_run(letters[2], days_ago=91)
    kept = [make_run(letters[2], days_ago=89), make_run(letters[2], days_ago=None, state="running")]
    purge()
    for model in (LetterRunItem, Confirmation):
        assert set(model.objects.values_list("pk", flat=True)) == {item.pk for item in kept}
    assert Run.objects.count() == 3


def test_what_runs_did_to_a_letter_goes_with_the_letter(letters: list[DeadLetter], settings: Any) -> None:
    settings.KEEP_CLOSED_DAYS = 30
    make_run(letters[0], days_ago=1)
    kept = make_run(letters[3], days_ago=1)
    purge()
    for model in (LetterRunItem, Confirmation):
        assert set(model.objects.values_list("pk", flat=True)) == {kept.pk}


def test_a_run_that_froze_a_letter_while_it_was_purged_keeps_its_item(
    letters: list[DeadLetter], settings: Any
) -> None:
    settings.KEEP_CLOSED_DAYS = 30
    frozen: list[LetterRunItem] = []

    def freeze_first(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith("DELETE") and not frozen:
            frozen.append(LetterRunItem(run_id=12, lane=0, letter_id=letters[0].pk))
            frozen[0].save()
        return execute(sql, *rest)

    with connection.execute_wrapper(freeze_first):
        purge_letters(timezone.now() - timedelta(days=30))
    assert not DeadLetter.objects.filter(pk=letters[0].pk).exists()
    item = LetterRunItem.objects.get()
    assert (item.letter_id, item.is_active) == (letters[0].pk, True)


def test_a_group_goes_with_the_last_of_its_letters(letters: list[DeadLetter], settings: Any) -> None:
    settings.KEEP_CLOSED_DAYS = 30
    long_ago = timezone.now() - timedelta(days=31)
    DeadLetter.objects.update(status="resolved", closed_at=long_ago)
    FailureGroup.objects.update(created_at=long_ago)
    purge()
    compact()
    purge()
    # Not at once: somebody may be recording a letter for it at this moment.
    assert FailureGroup.objects.exclude(retired_at=None).exists()
    purge()
    assert FailureGroup.objects.exists()
    FailureGroup.objects.update(retired_at=timezone.now() - timedelta(hours=2))
    purge()
    assert not FailureGroup.objects.exists()
    assert not GroupFacet.objects.exists()
    assert not Counter.objects.exists()


def test_a_group_that_fails_again_before_it_is_forgotten_stays(
    letters: list[DeadLetter], make_letters: Make, settings: Any
) -> None:
    settings.KEEP_CLOSED_DAYS = 30
    group = FailureGroup.objects.get()
    DeadLetter.objects.all().delete()
    long_ago = timezone.now() - timedelta(hours=2)
    FailureGroup.objects.update(retired_at=long_ago)
    make_letters(1, event_id="again")
    compact()
    purge()
    group.refresh_from_db()
    assert group.retired_at is None
    assert DeadLetter.objects.get().group == group
