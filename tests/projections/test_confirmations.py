"""What is asked before a verb: it says what follows, keeps what was entered, and is not asked in vain."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from projections.models import Projection

Pay = Callable[..., int]
Work = Callable[..., Projection]


def ask(client: Client, verb: str, name: str, query: str = "") -> tuple[int, str]:
    row = Projection.objects.get(name=name)
    answer = client.get(reverse(f"projections:confirm_{verb}", args=[row.pk]) + query)
    return answer.status_code, " ".join(answer.content.decode().split())


@pytest.mark.parametrize("verb", ["skip", "dead_letter"])
def test_where_no_event_holds_it_up_none_can_be_passed(operator: Client, verb: str) -> None:
    row = Projection.objects.get(name="letters")
    address, page = (
        reverse(f"projections:{name}", args=[row.pk]) for name in (f"confirm_{verb}", "projection")
    )
    answer = operator.get(address)
    assert (answer.status_code, answer["Location"]) == (302, page)
    assert "No event holds letters up now." in operator.get(page).content.decode()
    # A dialog is not opened for it.
    answer = operator.get(address, headers={"HX-Request": "true"})
    assert (answer["HX-Redirect"], answer.content) == (page, b"")


def test_a_rebuild_of_one_event_is_said_as_one(admin: Client, pay: Pay) -> None:
    pay("a", 1)
    _, html = ask(admin, "rebuild", "letters")
    assert "and 1 event is handled again, in less than a second. Until then" in html
    pay("a", *range(2, 4003))
    _, html = ask(admin, "rebuild", "letters")
    assert "and 4,002 events are handled again, in about 2 s. Until then" in html


def test_going_back_names_a_rebuild_only_where_there_is_one(admin: Client, pay: Pay, work: Work) -> None:
    pay("a", 1, event_type="Noted")
    pay("a", 2)
    for name, has_one in (("notes", False), ("letters", True)):
        work(name)
        _, html = ask(admin, "reset", name, "?to=start")
        assert "they add a second time." in html
        assert ("A rebuild would empty it." in html) == has_one


@pytest.mark.parametrize(
    ("query", "status", "problem", "kept"),
    [
        (
            "?to=position&position=7",
            409,
            "There is no position 7; the store has no event.",
            'name="position" inputmode="numeric" value="7"',
        ),
        ("?to=position&position=x", 400, "position is the number of an event", 'value="x"'),
        ("?to=time&time=soon", 400, "time is a date and a time", 'value="time" checked'),
    ],
)
def test_a_reset_that_cannot_be_asks_again_with_what_was_entered(
    admin: Client, query: str, status: int, problem: str, kept: str
) -> None:
    found, html = ask(admin, "reset", "letters", query)
    assert found == status
    assert "Where should letters go on?" in html
    assert problem in html
    assert kept in html


def test_a_target_of_another_kind_is_refused(admin: Client) -> None:
    status, html = ask(admin, "reset", "letters", "?to=nowhere")
    assert status == 400
    assert "to is &#x27;nowhere&#x27;; it can be start, position or time." in html
    assert 'value="position" checked' in html
