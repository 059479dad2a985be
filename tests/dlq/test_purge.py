"""Retention: closed letters go if a setting says so, with all that belongs to them; open ones never."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from dlq.compaction import compact
from dlq.models import Attempt, Counter, DeadLetter, FailureGroup, GroupFacet, LetterBody
from dlq.retention import purge
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
