"""What a group's page says of the sequences that it holds up."""

from collections.abc import Callable

import pytest
from django.test import Client

from dlq.api import Parked, park_events
from dlq.compaction import compact
from dlq.models import DeadLetter, FailureGroup
from tests.dlq.test_group_states import read

pytestmark = pytest.mark.django_db
Make = Callable[..., list[DeadLetter]]


def test_what_it_holds_up_is_told_and_what_is_not_parked_is_not(viewer: Client, make_letters: Make) -> None:
    sequence = {"consumer": "billing", "sequence_key": "s"}
    make_letters(1, **sequence, sequence_no=1)
    group = FailureGroup.objects.get()
    assert "of billing; its sequence is held up." in read(viewer, group)
    compact()
    page = read(viewer, group)
    assert "1 sequence held up." in page
    assert "<dd>1 open</dd>" in page
    park_events([Parked(**sequence, event_id="p", sequence_no=2)])
    compact()
    page = read(viewer, group)
    assert "1 sequence held up, 1 letter parked behind." in page
    assert "<dd>1 open, 1 parked</dd>" in page


def test_of_many_sequences_held_up_it_says_how_many_it_shows(viewer: Client, make_letters: Make) -> None:
    for number in range(12):
        make_letters(1, event_id=str(number), sequence_key=f"s{number}")
        if number in (9, 11):
            compact()
            page = read(viewer, FailureGroup.objects.get())
            assert ("<h2>Sequences held up</h2><span" in page) == (number == 11)
    assert '<h2>Sequences held up</h2><span class="dim">10 of 12</span>' in page


def test_several_letters_of_one_sequence_hold_up_one(viewer: Client, make_letters: Make) -> None:
    make_letters(2, sequence_key="s")
    assert "of billing; a sequence is held up." in read(viewer, FailureGroup.objects.get())
