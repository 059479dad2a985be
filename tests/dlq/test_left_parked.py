"""Parked letters whose sequence has no failed one any more wait for ever, and that is said."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from dlq.api import Parked, park_events
from dlq.models import DeadLetter, LetterRunItem
from dlq.needs import find_left_parked
from dlq.sampling import take_sample

pytestmark = pytest.mark.django_db
Make = Callable[..., list[DeadLetter]]


def hold_up(make_letters: Make, key: str) -> tuple[DeadLetter, DeadLetter]:
    """A failed letter, and one that is parked behind it."""
    sequence = {"consumer": "billing", "sequence_key": key}
    [head] = make_letters(1, **sequence, event_id=f"{key}1", sequence_no=1)
    [parked] = park_events([Parked(**sequence, event_id=f"{key}2", sequence_no=2)])
    return head, DeadLetter.objects.get(pk=parked)


def close(letter: DeadLetter) -> None:
    DeadLetter.objects.filter(pk=letter.pk).update(status="resolved", resolution="by_hand")


def test_what_is_parked_behind_a_failed_letter_needs_nobody(make_letters: Make) -> None:
    hold_up(make_letters, "a")
    assert not list(find_left_parked())
    take_sample()
    assert not list(find_left_parked())


def test_what_is_left_parked_is_told_until_it_is_dealt_with(viewer: Client, make_letters: Make) -> None:
    head, parked = hold_up(make_letters, "a")
    hold_up(make_letters, "b")
    close(head)
    take_sample()
    [need] = find_left_parked()
    assert need.headline == "1 sequence waits for a decision"
    assert need.url == reverse("dlq:letter", args=[parked.pk])
    assert "Of it only parked letters are left" in viewer.get("/").content.decode()
    close(parked)
    # Beat has not counted again.
    assert not list(find_left_parked())


def test_of_several_the_link_leads_to_all_that_is_parked(viewer: Client, make_letters: Make) -> None:
    for key in "ab":
        head, _ = hold_up(make_letters, key)
        close(head)
    take_sample()
    [need] = find_left_parked()
    assert need.headline == "2 sequences wait for a decision"
    assert "nothing happens to those until somebody replays, resolves or discards them" in need.sentence
    page = viewer.get(need.url).content.decode()
    assert page.count("billing") >= 2


def test_what_a_run_has_in_hand_is_not_left(make_letters: Make) -> None:
    head, parked = hold_up(make_letters, "a")
    close(head)
    take_sample()
    LetterRunItem.objects.create(run_id=1, lane=0, letter=parked)
    assert not list(find_left_parked())
    take_sample()
    assert not list(find_left_parked())
