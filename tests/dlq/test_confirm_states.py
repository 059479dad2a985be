"""Confirmations of nothing, of one, of many consumers, and after a refusal."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from dlq.api import Parked, park_events
from dlq.models import DeadLetter, LetterRunItem
from dlq.operations import Done
from dlq.selection import select_ids
from tests.dlq.test_verbs_pages import confirm_and_send

pytestmark = pytest.mark.django_db
Make = Callable[..., list[DeadLetter]]
Do = Callable[..., Done]


def address(verb: str, *letters: DeadLetter) -> str:
    return f"/dead-letters/{verb}/confirm/?" + "&".join(f"id={letter.pk}" for letter in letters)


def test_what_cannot_be_done_says_which_letters_could(admin: Client, make_letters: Make, do: Do) -> None:
    [letter] = make_letters(1, payload={"pin": 7})
    page = admin.get(address("restore", letter)).content.decode()
    assert "Nothing to restore" in page
    assert (
        "None of the selected letters can be restored now: only resolved and discarded letters can." in page
    )
    do("resolve", select_ids([letter.pk]), 1)
    page = admin.get(address("discard", letter)).content.decode()
    assert "None of the selected letters can be discarded now: only open and parked letters can." in page
    page = admin.get(address("restore", letter)).content.decode()
    assert "Restore 1 letter of billing?" in page
    assert (
        "It becomes again what it was: open, or parked. What was discarded is no longer left out of" in page
    )


def test_what_is_erased_is_erased_once(admin: Client, make_letters: Make, do: Do) -> None:
    [letter] = make_letters(1, payload={"pin": 7})
    page = admin.get(address("erase", letter)).content.decode()
    assert "Erase the payload of 1 letter of billing?" in page
    assert "and so does the title of its group" in page
    assert "what the event store or its source has of it stays there" in page
    do("erase", select_ids([letter.pk]), 1)
    erased_at = DeadLetter.objects.get().erased_at
    page = admin.get(address("erase", letter)).content.decode()
    assert "None of the selected letters can be erased now: they are erased already." in page
    assert do("erase", select_ids([letter.pk]), 1).moved_count == 1
    assert DeadLetter.objects.get().erased_at == erased_at


def test_of_many_consumers_the_first_are_named(operator: Client, make_letters: Make) -> None:
    letters = [letter for n in range(9) for letter in make_letters(1, consumer=f"c{n}")]
    page = operator.get(address("resolve", *letters)).content.decode()
    assert "Resolve 9 letters of 9 consumers?" in page
    assert "and 1 more consumer</li>" in page


def test_critical_consumers_are_named_together(
    operator: Client, make_letters: Make, settings: Settings
) -> None:
    settings.CRITICAL_CONSUMERS = frozenset({"escrow", "ledger"})
    letters = make_letters(2, consumer="ledger") + make_letters(1, consumer="escrow")
    page = operator.get(address("resolve", *letters)).content.decode()
    assert "2 of ledger, 1 of escrow: these consumers must not lose an event." in page


@pytest.mark.parametrize(("followers", "number"), [("replay", 1), ("along", 2)])
def test_after_a_refusal_the_choice_stays_and_the_reason_is_asked_at_its_field(
    operator: Client, make_letters: Make, followers: str, number: int
) -> None:
    sequence = {"consumer": "billing", "sequence_key": "s"}
    [head] = make_letters(1, **sequence, sequence_no=1)
    park_events([Parked(**sequence, event_id=f"p{n}", sequence_no=n + 2) for n in range(number)])
    status, page = confirm_and_send(operator, address("discard", head), followers=followers)
    assert status == 409
    assert f'value="{followers}" checked' in page
    assert 'value="wait" checked' not in page
    assert 'Reason (required) <span class="error" role="alert">Give a reason' in page
    assert ("discard it too" if number == 1 else "discard them too") in page


def test_a_number_that_is_not_typed_is_asked_for_at_its_field(
    operator: Client, make_letters: Make, settings: Settings
) -> None:
    settings.TYPE_NUMBER_ABOVE = 1
    status, page = confirm_and_send(operator, address("resolve", *make_letters(2)), reason="done")
    assert status == 422
    assert 'letters, 2 <span class="error" role="alert">To resolve 2 letters, type that number.' in page


def test_one_that_was_confirmed_is_one(operator: Client, make_letters: Make) -> None:
    letters = make_letters(3)
    status, page = confirm_and_send(operator, address("resolve", *letters), count="1")
    assert (status, "1 letter was confirmed, and now there are 3. Nothing was changed." in page) == (
        409,
        True,
    )


def test_what_is_in_a_run_is_left_out_and_the_run_named(operator: Client, make_letters: Make) -> None:
    letters = make_letters(2)
    LetterRunItem.objects.create(run_id=12, lane=0, letter=letters[0])
    page = operator.get(address("resolve", *letters)).content.decode()
    assert "Resolve 1 letter of billing?" in page
    assert '1 more letter is in run <a href="/runs/12/">12</a>, and left out.' in page


def test_of_many_runs_the_first_are_named(operator: Client, make_letters: Make) -> None:
    letters = make_letters(6)
    for number, letter in enumerate(letters, start=11):
        LetterRunItem.objects.create(run_id=number, lane=0, letter=letter)
    page = operator.get(address("resolve", *letters)).content.decode()
    assert "Nothing to resolve" in page
    assert "6 letters are in runs " in page
    assert '<a href="/runs/15/">15</a> and 1 more, and left out.' in page


@pytest.mark.parametrize(
    ("number", "label", "is_run"),
    [
        (1, "If followers are discarded too, type the number of all letters, 4 ", False),
        (3, "Type the number of letters, 3; if followers are discarded too, 6 ", True),
    ],
)
def test_with_followers_it_is_said_which_number_is_typed_and_what_becomes_a_run(
    operator: Client,
    make_letters: Make,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    label: str,
    is_run: bool,
) -> None:
    settings.TYPE_NUMBER_ABOVE = 2
    monkeypatch.setattr("dlq.preview.MOST_AT_ONCE", 2)
    sequence = {"consumer": "billing", "sequence_key": "s"}
    letters = make_letters(number, **sequence, sequence_no=1)
    park_events([Parked(**sequence, event_id=f"p{n}", sequence_no=n + 2) for n in range(3)])
    page = operator.get(address("discard", *letters)).content.decode()
    assert label in page
    assert ("This becomes a run with progress" in page) == is_run
    assert ("If followers are discarded too, this becomes a run with progress" in page) != is_run
    assert "leave them parked until somebody decides" in page
    assert "and a replay cannot be undone" in page


@pytest.mark.parametrize(
    ("number", "label"),
    [
        (1, "If the follower is resolved too, type the number of all letters, 2 "),
        (2, "Type the number of letters, 2; if the follower is resolved too, 3 "),
    ],
)
def test_of_one_follower_it_is_not_spoken_as_of_many(
    operator: Client,
    make_letters: Make,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    label: str,
) -> None:
    settings.TYPE_NUMBER_ABOVE = 1
    monkeypatch.setattr("dlq.preview.MOST_AT_ONCE", number)
    sequence = {"consumer": "billing", "sequence_key": "s"}
    letters = make_letters(number, **sequence, sequence_no=1)
    park_events([Parked(**sequence, event_id="p", sequence_no=2)])
    page = operator.get(address("resolve", *letters)).content.decode()
    assert label in page
    assert "If the follower is resolved too, this becomes a run with progress" in page


@pytest.mark.parametrize(("verb", "tone"), [("resolve", "primary"), ("discard", "danger")])
def test_only_what_loses_something_stands_out_as_dangerous(
    operator: Client, make_letters: Make, verb: str, tone: str
) -> None:
    assert (
        f'<button class="btn {tone}">{verb.capitalize()} 1 letter<'
        in operator.get(address(verb, *make_letters(1))).content.decode()
    )


def test_where_the_number_is_another_by_now_nobody_is_asked_for_the_old_one(
    operator: Client, make_letters: Make, settings: Settings
) -> None:
    """Others are taken by somebody between the confirmation and the click."""
    settings.TYPE_NUMBER_ABOVE = 2
    [letter] = make_letters(1)
    form = {"id": [letter.pk], "count": 3, "watermark": letter.pk, "request_key": str(uuid4()), "reason": "x"}
    answer = operator.post("/dead-letters/resolve/", form)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "3 letters were confirmed, and now there is 1. Nothing was changed." in page
    assert "type that number" not in page
    assert DeadLetter.objects.get().status == "failed"
