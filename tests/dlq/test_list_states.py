"""The list of letters where nobody counted, where nothing is, and where a source takes nothing back."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from dashboard.paging import write_cursor
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
    assert "How many match was not counted; that would take too long." in page
    assert (
        "in so many letters that a page looks through only a part of the letters; go on for the next part."
        in page
    )
    assert "<h1>Letters</h1>" in page
    assert 'value="matching"' not in page
    # Of another consumer there is none at all.
    page = read(operator, words="total", consumer="orders")
    assert "Too many" not in page
    assert "<h1>No open letter matches</h1>" in page
    assert "was not counted" not in page
    assert "Loosen the filter" in page


def test_a_part_without_a_match_leads_on_to_the_next_part(
    viewer: Client, make_letters: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_letters(2, error_message="bad total, and wanted")
    make_letters(3, consumer="newer", failed_at=timezone.now())
    monkeypatch.setattr(filters, "MOST_BODIES", 1)
    monkeypatch.setattr(letters, "WINDOW", 2)
    page = read(viewer, words="wanted")
    assert "No letter of this part matches.</p>" in page
    assert "Older</a>" in page


def test_after_the_last_part_it_is_not_said_that_no_letter_matches(
    viewer: Client, make_letters: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_letters(3)
    monkeypatch.setattr(filters, "MOST_BODIES", 1)
    monkeypatch.setattr(letters, "WINDOW", 2)
    last = DeadLetter.objects.earliest("last_failed_at", "pk")
    page = read(viewer, words="total", after=f"{last.last_failed_at.isoformat()}_{last.pk}")
    assert "<h1>Letters</h1>" in page
    assert 'No letter of this part matches; <a href="?words=total">go to the first</a>.' in page
    assert "Loosen the filter" not in page


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


def test_a_page_that_updates_itself_offers_to_clear_only_what_somebody_chose(
    viewer: Client, make_letters: Make
) -> None:
    make_letters(1)
    live_url = viewer.get(URL).context["live_url"]
    assert "Clear</a>" not in viewer.get(live_url, headers={"HX-Request": "true"}).content.decode()
    assert "Clear</a>" in read(viewer, order="oldest")
    assert "Clear</a>" in read(viewer, consumer="billing")


@pytest.mark.parametrize(
    ("status", "sentences"),
    [
        (
            "closed",
            [
                "No letter is closed",
                "What was replayed, resolved or discarded appears here.",
                "Show the open",
            ],
        ),
        (
            "parked",
            ["No letter is parked", "What waits for an earlier event of its sequence"],
        ),
        ("resolved", ["No letter is resolved", "What was replayed or dealt with elsewhere appears here."]),
        ("discarded", ["No letter is discarded", "What was given up, with a reason, appears here."]),
        (
            "any",
            [
                "There is no letter",
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
        ({}, "No open letter matches"),
        ({"status": "parked"}, "No parked letter matches"),
        ({"status": "any"}, "No letter matches"),
    ],
)
def test_where_nothing_matches_it_says_among_which_letters_and_how_to_look_among_all(
    viewer: Client, query: dict[str, str], sentence: str
) -> None:
    page = read(viewer, consumer="nobody", **query)
    assert page.count(sentence) == 1
    among_all = '?consumer=nobody&amp;status=any">look among all letters, closed ones too</a>'
    assert (among_all in page) == (query != {"status": "any"})


def test_a_page_whose_letters_are_closed_by_now_leads_to_the_others(
    viewer: Client, make_letters: Make
) -> None:
    make_letters(2)
    oldest = DeadLetter.objects.earliest("last_failed_at", "pk")
    page = read(viewer, after=write_cursor(oldest, "last_failed_at"))
    assert "2 open letters</h1>" in page
    assert 'None of them is on this page; <a href="/dead-letters/letters/">go to the first page</a>.' in page
    assert "Failures arrive" not in page


def test_a_search_says_that_hidden_errors_are_not_searched(
    viewer: Client, admin: Client, make_letters: Make, settings: Settings
) -> None:
    make_letters(1)
    settings.MASKED_PATHS = ["$.name"]
    hidden = "Errors that are hidden from you are not searched."
    page = read(viewer, words="total")
    assert "No open letter matches" in page
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


def test_an_empty_tab_leads_to_the_groups_that_are_open(viewer: Client, make_letters: Make) -> None:
    make_letters(1)
    page = viewer.get("/dead-letters/", {"tab": "muted"}).content.decode()
    assert "1 open letter in 1 group<" in page
    assert '<a href="/dead-letters/">Show the open groups</a>' in page


@pytest.mark.parametrize(("number", "words"), [(1, "1 failure"), (2, "2 failures")])
def test_the_bars_of_a_group_are_told_in_words(
    viewer: Client, make_letters: Make, number: int, words: str
) -> None:
    make_letters(number, failed_at=timezone.now())
    page = viewer.get("/dead-letters/").content.decode()
    assert f'aria-label="{words} in 24 hours, {number} in the last"' in page


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
