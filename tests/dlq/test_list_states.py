"""The list of letters where nobody counted, where nothing is, and where a source takes nothing back."""

from collections.abc import Callable

import pytest
from django.test import Client

from dlq import filters
from dlq.models import DeadLetter
from dlq.queries import letters
from sources.models import SourceState

pytestmark = pytest.mark.django_db
Make = Callable[..., list[DeadLetter]]
URL = "/dead-letters/letters/"


def read(client: Client, **query: str) -> str:
    return client.get(URL, query).content.decode()


def test_words_that_are_everywhere_are_not_counted(
    operator: Client, make_letters: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_letters(4)
    monkeypatch.setattr(filters, "MOST_BODIES", 1)
    monkeypatch.setattr(letters, "WINDOW", 2)
    page = read(operator, words="total")
    assert "Too many match to be counted." in page
    assert "looked through part by part; go on for more of them." in page
    assert "<h1>Letters</h1>" in page
    assert 'value="matching"' not in page


def test_a_count_that_stops_says_over(
    operator: Client, make_letters: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_letters(3)
    monkeypatch.setattr(letters, "MOST_COUNTED", 2)
    page = read(operator, attempts="1")
    assert "2+ open letters" in page
    assert "Over 2 match." in page
    assert "all 2+ matching" in page


def test_the_oldest_first_stays_chosen_and_places_are_not_sent_on(
    operator: Client, make_letters: Make
) -> None:
    make_letters(1)
    page = read(operator, order="oldest", consumer="billing", scope="matching")
    assert '<option value="oldest" selected>' in page
    assert '<input type="hidden" name="consumer" value="billing">' in page
    assert '<input type="hidden" name="scope"' not in page


@pytest.mark.parametrize(
    ("status", "sentences"),
    [
        (
            "closed",
            [
                "No letter is closed",
                "What is replayed, resolved or discarded appears here.",
                "Nothing is closed",
                "Show the open",
            ],
        ),
        (
            "parked",
            ["No letter is parked", "What waits for an earlier event of its sequence", "Nothing is parked"],
        ),
        ("any", ["No letter is here", "Nothing is here", "Failures arrive from your consumers"]),
    ],
)
def test_an_empty_list_says_what_would_be_there(viewer: Client, status: str, sentences: list[str]) -> None:
    page = read(viewer, status=status)
    assert [sentence for sentence in sentences if sentence not in page] == []


def test_a_source_that_takes_nothing_back_says_why(operator: Client, make_letters: Make) -> None:
    why = "mirror is a read replica."
    found = {"why_not": {"writes_status": why}, "recognised": "", "role": ""}
    SourceState.objects.create(name="mirror", kind="eventsource_py", inspection=found)
    make_letters(2, source="mirror")
    page = read(operator, source="mirror")
    assert f"No resolve, discard or restore. {why}" in page
    assert "Resolve…" not in page
    assert "Replay…" in page


def test_what_is_too_long_is_said_in_characters(viewer: Client) -> None:
    answer = viewer.get(URL, {"consumer": "x" * 701})
    assert answer.status_code == 400
    assert "It can have 700 characters; this has 701." in answer.content.decode()


def test_a_parked_letter_is_named_once_and_a_long_sequence_is_cut(viewer: Client, make_letters: Make) -> None:
    make_letters(1, event_type="Paid", sequence_key="s" * 50)
    DeadLetter.objects.update(status="parked", error_type="", summary="")
    page = read(viewer, status="parked")
    assert '<span class="dim">billing' in page
    assert "billing · Paid" not in page
    assert f">{'s' * 39}…</a>" in page
