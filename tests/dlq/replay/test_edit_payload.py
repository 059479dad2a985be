"""Edit and replay: validated, compared, reasoned, kept beside the original, and honoured."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import AuditEntry, Run
from dlq.models import DeadLetter, LetterBody, Override
from dlq.operations import Done
from dlq.operations.edits import EditRefused, replace_payload
from dlq.selection import select_ids
from tests.dlq.replay.conftest import run_all, totals
from tests.dlq.replay.test_replay_pages import confirm
from tests.shop.models import Applied

Reprocess = Callable[..., Run]


@pytest.fixture
def letter(fail: Callable[..., None]) -> DeadLetter:
    fail("a", events=1)
    return DeadLetter.objects.get()


def url(name: str, letter: DeadLetter) -> str:
    return reverse(f"dlq:{name}_payload", args=[letter.pk])


def test_a_replacement_is_compared_saved_and_replayed_and_the_original_kept(
    operator: Client, letter: DeadLetter
) -> None:
    assert "&quot;amount&quot;: 1" in operator.get(url("edit", letter)).content.decode()
    form = {"payload": json.dumps({"amount": 7, "mark": ""}), "reason": "a typo"}
    html = operator.post(url("compare", letter), form).content.decode()
    assert "-  &quot;amount&quot;: 1" in html
    assert "+  &quot;amount&quot;: 7" in html
    assert not Override.objects.exists()
    answer = operator.post(url("save", letter), form)
    assert answer["Location"] == f"{reverse('dlq:confirm_replay')}?scope=letter&id={letter.pk}"
    _, confirmed = confirm(operator, f"id={letter.pk}")
    operator.post(reverse("dlq:replay"), confirmed)
    assert totals(run_all(Run.objects.get())) == {"succeeded": 1}
    assert Applied.objects.get().data == {"amount": 7, "mark": ""}
    assert LetterBody.objects.get().payload == {"amount": 1, "mark": "a"}
    entry = AuditEntry.objects.get(action="letter.edit")
    assert (entry.actor, entry.reason) == ("some-operator", "a typo")


@pytest.mark.parametrize(
    ("form", "status", "says"),
    [
        ({"payload": "{", "reason": "x"}, 422, "This is not JSON: line 1, column 2, expecting property name"),
        ({"payload": '"x', "reason": "x"}, 422, "This is not JSON: line 1, column 1, unterminated string."),
        ({"payload": "{}", "reason": " "}, 409, "Say why"),
        ({"payload": "[" * 100_000, "reason": "x"}, 422, "This cannot be kept as JSON"),
        ({"payload": '{"a": NaN}', "reason": "x"}, 422, "This cannot be kept as JSON"),
        ({"payload": '{"a": 1e999}', "reason": "x"}, 422, "This cannot be kept as JSON"),
        ({"payload": '"\\u0000"', "reason": "x"}, 422, "This cannot be kept as JSON"),
    ],
)
def test_what_makes_no_sense_is_refused(
    operator: Client, letter: DeadLetter, form: dict[str, str], status: int, says: str
) -> None:
    answer = operator.post(url("save", letter), form)
    assert answer.status_code == status
    assert f' <span class="error" role="alert">{says}' in answer.content.decode()
    assert not Override.objects.exists()


def test_a_letter_that_somebody_closed_meanwhile_is_refused_and_nothing_typed_is_lost(
    operator: Client, letter: DeadLetter
) -> None:
    DeadLetter.objects.update(status="resolved")
    answer = operator.post(url("save", letter), {"payload": '{"amount": 7}', "reason": "a typo"})
    assert answer.status_code == 409
    page = answer.content.decode()
    assert f'role="alert">Letter {letter.pk} is resolved; restore it first.</p>' in page
    assert "{&quot;amount&quot;: 7}" in page


def test_whoever_edits_again_sees_who_replaced_it_and_whether_anything_changes(
    operator: Client, letter: DeadLetter
) -> None:
    same = {"payload": json.dumps({"amount": 1, "mark": "a"}), "reason": "a typo"}
    assert b"It says the same as the original." in operator.post(url("compare", letter), same).content
    operator.post(url("save", letter), same | {"payload": '{"amount": 7}'})
    page = operator.get(url("edit", letter)).content.decode()
    assert "A rebuild uses the replacement too. some-operator replaced the payload <time" in page
    assert ": a typo.</p>" in page


def test_the_letter_says_that_its_consumer_is_given_something_else_than_it_shows(
    operator: Client, letter: DeadLetter
) -> None:
    page = reverse("dlq:letter", args=[letter.pk])
    assert b"is given something else" not in operator.get(page).content
    operator.post(url("save", letter), {"payload": '{"amount": 7}', "reason": "a typo"})
    html = operator.get(page).content.decode()
    assert "letters is given something else: some-operator replaced the payload <time" in html
    assert ": a typo. What stands here is the original." in html


def test_a_replacement_can_be_taken_back(operator: Client, letter: DeadLetter) -> None:
    original = {"payload": json.dumps({"amount": 1, "mark": "a"}), "reason": "it was right"}
    replaced = {"payload": '{"amount": 7}', "reason": "a typo"}
    operator.post(url("save", letter), replaced)
    page = operator.post(url("compare", letter), replaced).content.decode()
    assert "It says the same as the replacement that is in place." in page
    assert "Save the replacement" not in page
    assert "Take it back, then replay…" in operator.post(url("compare", letter), original).content.decode()
    page = operator.post(url("save", letter), original, follow=True).content.decode()
    assert "The replacement is taken back. Now replay the letter." in page
    assert not Override.objects.exists()
    entry = AuditEntry.objects.filter(action="letter.edit").latest("id")
    assert (entry.reason, entry.details["taken_back"]) == ("it was right", True)


def test_an_erased_payload_is_not_offered_for_editing(operator: Client, letter: DeadLetter) -> None:
    DeadLetter.objects.update(erased_at=timezone.now())
    page = operator.get(url("edit", letter)).content.decode()
    assert f"<h1>The payload of letter {letter.pk} was erased</h1>" in page
    assert "Without it the letter cannot be replayed, and there is nothing to replace." in page
    assert "Replace what" not in page
    assert "<textarea" not in page


def test_a_consumer_gets_the_original_once_the_replacement_was_erased(
    operator: Client,
    letter: DeadLetter,
    mend: Callable[..., None],
    do: Callable[..., Done],
    reprocess: Reprocess,
) -> None:
    operator.post(url("save", letter), {"payload": '{"amount": 7, "mark": ""}', "reason": "a typo"})
    do("resolve", select_ids([letter.pk]), 1)
    do("erase", select_ids([letter.pk]), 1)
    assert not Override.objects.exists()
    mend()
    assert totals(run_all(reprocess())) == {"succeeded": 1}
    assert Applied.objects.get().data == {"amount": 1, "mark": "a"}


def test_what_is_discarded_and_restored_has_its_replacement_still(
    operator: Client, letter: DeadLetter, do: Callable[..., Done], start: Callable[..., Run]
) -> None:
    operator.post(url("save", letter), {"payload": '{"amount": 7, "mark": ""}', "reason": "a typo"})
    do("discard", select_ids([letter.pk]), 1)
    assert Override.objects.get().kind == "discarded"
    do("restore", select_ids([letter.pk]), 1)
    page = operator.get(url("edit", letter)).content.decode()
    assert "someone replaced the payload <time" in page
    assert ": put back when the letter was restored.</p>" in page
    assert totals(run_all(start())) == {"succeeded": 1}
    assert Applied.objects.get().data == {"amount": 7, "mark": ""}


def test_of_what_is_erased_while_it_is_given_up_no_replacement_is_left(
    operator: Client, letter: DeadLetter, do: Callable[..., Done]
) -> None:
    operator.post(url("save", letter), {"payload": '{"amount": 7}', "reason": "a typo"})
    for verb in ("discard", "erase"):
        do(verb, select_ids([letter.pk]), 1)
    assert list(Override.objects.values_list("kind", "payload")) == [("discarded", None)]


def test_what_turns_text_round_is_written_as_its_number(operator: Client, letter: DeadLetter) -> None:
    turned = {"payload": json.dumps({"amount": "\u202e7"}), "reason": "a typo"}
    operator.post(url("save", letter), turned)
    page = operator.get(url("edit", letter)).content.decode()
    assert "&quot;\\u202e7&quot;" in page
    assert "\u202e" not in page


def test_a_viewer_may_not_and_neither_may_who_cannot_see_masked_values(
    viewer: Client, operator: Client, letter: DeadLetter, settings: Any
) -> None:
    assert viewer.get(url("edit", letter)).status_code == 403
    settings.MASKED_PATHS = ["$.amount"]
    assert operator.get(url("edit", letter)).status_code == 403
    assert operator.post(url("save", letter), {"payload": "{}", "reason": "x"}).status_code == 403
    assert not Override.objects.exists()


def test_a_replacement_shows_no_masked_value_that_the_original_lacks(
    admin: Client, operator: Client, letter: DeadLetter, settings: Any
) -> None:
    settings.MASKED_PATHS = ["$.email"]
    form = {"payload": '{"amount": 1, "email": "alice@b.example"}', "reason": "it was missing"}
    assert admin.post(url("save", letter), form).status_code == 302
    answer = operator.get(url("edit", letter))
    assert (answer.status_code, b"alice" in answer.content) == (403, False)
    assert b"alice" in admin.get(url("edit", letter)).content


def test_what_is_erased_cannot_be_replaced(operator: Client, letter: DeadLetter) -> None:
    DeadLetter.objects.update(erased_at=timezone.now())
    answer = operator.post(url("save", letter), {"payload": "{}", "reason": "a typo"})
    assert answer.status_code == 409
    assert (
        "Without it the letter cannot be replayed, and there is nothing to replace."
        in answer.content.decode()
    )


def test_what_somebody_has_given_up_meanwhile_is_not_replaced(
    letter: DeadLetter, do: Callable[..., Done]
) -> None:
    do("discard", select_ids([letter.pk]), 1)
    with pytest.raises(EditRefused, match="is discarded; restore it first"):
        replace_payload(letter, {"amount": 7}, actor="olga", reason="a typo")
    assert Override.objects.get().kind == Override.Kind.DISCARDED


def test_an_original_that_is_no_json_is_not_said_to_be_null(operator: Client, letter: DeadLetter) -> None:
    LetterBody.objects.update(payload=None, payload_raw=b"<order/>", payload_size=8)
    DeadLetter.objects.update(source="shop")
    page = operator.get(url("edit", letter)).content.decode()
    told = "The original is no JSON, so it cannot be shown here: what you write takes the place of all of it."
    assert told in page
    assert "null" not in page[page.index("<textarea") : page.index("</textarea>")]
    page = operator.post(url("compare", letter), {"payload": "null"}).content.decode()
    assert "+null" in page
    assert "-null" not in page
    assert told in page


def test_an_original_that_is_not_stored_is_not_said_to_be_no_json(
    operator: Client, letter: DeadLetter
) -> None:
    LetterBody.objects.update(payload=None, payload_raw=None, payload_size=0)
    DeadLetter.objects.update(source="shop")
    page = operator.get(url("edit", letter)).content.decode()
    assert "No original is stored here: letters gets what you write." in page
    assert "no JSON" not in page
