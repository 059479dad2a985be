"""The first sentence, what needs a person, and in which order."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.attention import list_attention
from dashboard.models import QuietSpell
from dashboard.quiet import note_quiet
from dlq.models import FailureGroup

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_alive")]
Fail = Callable[..., None]


def test_all_quiet_since_it_was_noted(viewer: Client, fail: Fail) -> None:
    note_quiet()
    QuietSpell.objects.update(since=timezone.now() - timedelta(days=400))
    note_quiet()
    since = timezone.localtime(QuietSpell.objects.get().since)
    page = viewer.get("/").content.decode()
    assert f'All quiet since <span class="nowrap">{since:%Y-%m-%d %H:%M}' in page
    fail("billing")
    note_quiet()
    assert not QuietSpell.objects.exists()
    assert "1 thing needs you" in viewer.get("/").content.decode()


def test_quiet_that_nobody_noted_has_no_since(viewer: Client) -> None:
    page = viewer.get("/").content.decode()
    assert "All quiet" in page
    assert "All quiet since" not in page


def test_a_group_that_grows_comes_before_a_larger_one_that_rests(fail: Fail) -> None:
    for number in range(4):
        fail(f"resting-{number}", 50, ago=timedelta(hours=2))
    fail("growing", 7)
    needs = list_attention()
    assert needs[0].headline.startswith("growing fails")
    assert "7 open letters, 7 failures in the last 10 min." in needs[0].sentence
    assert needs[0].tone == "bad"
    assert [need.tone for need in needs[1:]] == ["warn"] * 3
    assert needs[0].url == f"/dead-letters/groups/{FailureGroup.objects.get(consumer='growing').pk}/"


def test_a_muted_group_needs_nobody(fail: Fail) -> None:
    fail("billing", 5)
    FailureGroup.objects.update(is_muted=True)
    assert list_attention() == []


def test_it_says_in_how_many_groups_the_letters_are_of_which_only_the_worst_are_named(
    viewer: Client, fail: Fail
) -> None:
    for number in range(8):
        fail(f"consumer-{number}", 2, ago=timedelta(hours=2))
    assert len(list_attention()) == 3
    assert "16 letters are open in 8 groups," in viewer.get("/").content.decode()
