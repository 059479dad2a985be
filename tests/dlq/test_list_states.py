"""The list of letters where nobody counted, where nothing is, and where a source takes nothing back."""

from collections.abc import Callable

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from dlq import filters
from dlq.models import DeadLetter, FailureGroup
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
                "What was replayed, resolved or discarded appears here.",
                "Nothing is closed",
                "Show the open",
            ],
        ),
        (
            "parked",
            ["No letter is parked", "What waits for an earlier event of its sequence", "Nothing is parked"],
        ),
        ("resolved", ["No letter is resolved", "What was replayed or dealt with elsewhere appears here."]),
        ("discarded", ["No letter is discarded", "What was given up, with a reason, appears here."]),
        (
            "any",
            [
                "There is no letter",
                "Nothing is on record",
                'from an <a href="/sources/">attached source</a>, or over the push API.',
            ],
        ),
    ],
)
def test_an_empty_list_says_what_would_be_there(viewer: Client, status: str, sentences: list[str]) -> None:
    page = read(viewer, status=status)
    assert [sentence for sentence in sentences if sentence not in page] == []


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({}, "No open letter is as the filter says."),
        ({"status": "parked"}, "No parked letter is as the filter says."),
        ({"status": "any"}, "No letter is as the filter says."),
    ],
)
def test_where_nothing_matches_it_says_among_which_letters_and_how_to_look_among_all(
    viewer: Client, query: dict[str, str], sentence: str
) -> None:
    page = read(viewer, consumer="nobody", **query)
    assert sentence in page
    among_all = '?consumer=nobody&amp;status=any">look among all letters, closed ones too</a>'
    assert (among_all in page) == (query != {"status": "any"})


def test_a_search_says_that_hidden_errors_are_not_searched(
    viewer: Client, admin: Client, make_letters: Make, settings: Settings
) -> None:
    make_letters(1)
    settings.MASKED_PATHS = ["$.name"]
    hidden = "Errors that are hidden from you are not searched."
    page = read(viewer, words="total")
    assert "No letter matches" in page
    assert hidden in page
    assert "ValueError (hidden: it may hold masked values)</a>" in read(viewer)
    assert hidden not in read(viewer)
    page = read(admin, words="total")
    assert "Exactly 1 letter matches." in page
    assert hidden not in page


def test_one_match_is_not_offered_as_all(operator: Client, make_letters: Make) -> None:
    make_letters(2)
    assert "all 2 matching" in read(operator)
    page = read(operator, event_id="e0")
    assert "Exactly 1 letter matches." in page
    assert 'value="matching"' not in page


def test_a_filter_that_is_not_allowed_is_not_called_unreadable(viewer: Client, settings: Settings) -> None:
    settings.MASKED_PATHS = ["$.name"]
    page = viewer.get(URL, {"path": "$.name", "value": "x"}).content.decode()
    assert "The filter cannot be used as it is, so nothing is shown." in page
    assert "Values at this path are masked" in page


@pytest.mark.parametrize(
    ("tab", "sentence"),
    [
        ("open", "Nothing is open"),
        ("new", "No group is new today"),
        ("regressed", "No group has regressed"),
        ("poison", "No group has a poison letter"),
        ("muted", "No group is muted"),
        ("closed", "No group is closed"),
    ],
)
def test_an_empty_tab_leads_only_to_where_something_is(
    viewer: Client, make_letters: Make, tab: str, sentence: str
) -> None:
    page = viewer.get("/dead-letters/", {"tab": tab}).content.decode()
    assert f"<strong>{sentence}</strong>" in page
    assert "Show the" not in page
    assert ("No group is open either." in page) == (tab != "open")
    make_letters(1)
    FailureGroup.objects.update(is_muted=True)
    page = viewer.get("/dead-letters/", {"tab": tab}).content.decode()
    assert "1 open letter in 1 muted group<" in page
    assert ('?tab=muted">Show the muted groups</a>' in page) == (tab != "muted")
    assert ("Nothing is open that is not muted" in page) == (tab == "open")


def test_the_headline_counts_muted_groups_with_their_letters(viewer: Client, make_letters: Make) -> None:
    make_letters(1, consumer="shipping")
    FailureGroup.objects.update(is_muted=True)
    make_letters(2)
    page = viewer.get("/dead-letters/").content.decode()
    assert "3 open letters in 2 groups, 1 of them muted<" in page


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
    assert "It can have at most 700 characters; this one has 701." in answer.content.decode()


def test_a_parked_letter_is_named_once_and_a_long_sequence_is_cut(viewer: Client, make_letters: Make) -> None:
    make_letters(1, event_type="Paid", sequence_key="s" * 50)
    DeadLetter.objects.update(status="parked", error_type="", summary="", category="")
    page = read(viewer, status="parked")
    assert '<span class="dim">billing' in page
    assert "billing · Paid" not in page
    assert f">{'s' * 39}…</a>" in page
