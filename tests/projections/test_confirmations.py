"""What is asked before a verb: it says what follows, keeps what was entered, and is not asked in vain."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.models import Run
from dlq.models import DeadLetter
from projections.models import Projection
from projections.operations import ProjectionStateError, dead_letter_event
from projections.runtime.consumer import note_outage
from tests.markup import read_html
from tests.shop.projections import Letters

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


def test_a_rebuild_counts_the_events_that_it_goes_through_and_those_that_it_handles(
    admin: Client, pay: Pay
) -> None:
    pay("a", 1)
    _, html = ask(admin, "rebuild", "letters")
    assert "from its first event: 1 event, 1 of its types." in html
    assert "Its pace is unknown; at a modest one that takes less than a second. Until then" in html
    pay("a", *range(2, 4002), event_type="Noted")
    _, html = ask(admin, "rebuild", "letters")
    assert "from its first event: 4,001 events, 1 of its types." in html
    assert "at a modest one that takes about 2 s. Until then" in html
    run = Run.objects.create(kind="rebuild", options={"projection": "letters"}, request_key=uuid4())
    run.lanes.create(number=0, rate=10)
    _, html = ask(admin, "rebuild", "letters")
    assert "At the pace of its last rebuild that takes about 6 min. Until then" in html
    assert "An event that would stop it when it is live becomes a dead letter" in html


@pytest.mark.parametrize(("name", "is_warned"), [("mailer", True), ("letters", False)])
def test_effects_outside_are_said_to_happen_again(
    admin: Client, operator: Client, pay: Pay, work: Work, name: str, is_warned: bool
) -> None:
    pay("a", 1)
    work(name)
    for client, verb, query in (
        (admin, "rebuild", ""),
        (operator, "rebuild", ""),
        (admin, "reset", "?to=start"),
    ):
        _, html = ask(client, verb, name, query)
        assert ("Its effects outside this database happen a second time" in html) == is_warned
    _, html = ask(admin, "reset", name, "?to=position&position=1")
    assert "happen a second time" not in html


def test_a_reset_says_what_becomes_of_one_that_has_stopped(admin: Client, pay: Pay, work: Work) -> None:
    pay("a", 1)
    pay("a", 2, mark="x", how="ValueError")
    for name, has_stopped in (("letters", False), ("prices", True)):
        work(name)
        _, html = ask(admin, "reset", name, "?to=start")
        assert ("It runs again from there." in html) == has_stopped
        position = Projection.objects.get(name=name).position
        _, html = ask(admin, "reset", name, f"?to=position&position={position}")
        assert f"{name} stays at {position}, and the account begins there." in html
        for sentence in ("What holds it up is tried afresh.", "It runs again from there."):
            assert (sentence in html) == has_stopped


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
        (
            "?to=position&position=x",
            400,
            "position is &#x27;x&#x27;; it can be a whole number from 0 on.</span>",
            'value="x" aria-label="Position" aria-invalid="true" aria-describedby="position_error" autofocus',
        ),
        (
            "?to=position&position=",
            400,
            "position is empty; it can be a whole number from 0 on.</span>",
            'inputmode="numeric" value="" aria-label="Position" aria-invalid="true"',
        ),
        (
            "?to=time&time=",
            400,
            "time is empty; it can be a date and a time",
            'value="time" checked',
        ),
        (
            "?to=time&time=soon",
            400,
            "time is &#x27;soon&#x27;; it can be a date and a time",
            'value="time" checked',
        ),
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


def test_an_outage_does_not_blame_the_event_that_is_next_in_line(operator: Client, pay: Pay) -> None:
    pay("a", 1)
    note_outage(Letters(), ConnectionError("the price list is away"))
    row = Projection.objects.get(name="letters")
    for verb in ("skip", "dead_letter"):
        said = "Infrastructure holds it up, and perhaps not this event, which is only the next in line."
        assert said in ask(operator, verb, "letters")[1]
    # One of another type is not even handled.
    Projection.objects.filter(pk=row.pk).update(event_types=["Noted"])
    html = read_html(operator.get(reverse("projections:projection", args=[row.pk])))
    assert "next in line is <code>Paid</code> at 1</h2>" in html
    assert "Dead letter…" not in html
    with pytest.raises(ProjectionStateError, match="no longer held up by the event at 1"):
        dead_letter_event(row, 1, actor="ada", reason="go")
    assert not DeadLetter.objects.exists()
