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
from tests.dlq.replay.conftest import run_all, totals
from tests.dlq.replay.test_replay_pages import confirm
from tests.shop.models import Applied


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
        ({"payload": "{}", "reason": " "}, 409, "Say why"),
        ({"payload": "[" * 100_000, "reason": "x"}, 422, "This cannot be kept as JSON"),
        ({"payload": '{"a": NaN}', "reason": "x"}, 422, "This cannot be kept as JSON"),
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


def test_whoever_edits_again_sees_who_replaced_it_and_whether_anything_changes(
    operator: Client, letter: DeadLetter
) -> None:
    same = {"payload": json.dumps({"amount": 1, "mark": "a"}), "reason": "a typo"}
    assert b"It says the same as the original." in operator.post(url("compare", letter), same).content
    operator.post(url("save", letter), same | {"payload": '{"amount": 7}'})
    page = operator.get(url("edit", letter)).content.decode()
    assert "A rebuild uses the replacement too. some-operator replaced the payload <time" in page
    assert ": a typo.</p>" in page


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
    assert f"<h1>Letter {letter.pk} was erased</h1>" in page
    assert "it can be neither replaced nor replayed" in page
    assert "Replace what" not in page
    assert "<textarea" not in page


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


def test_what_is_erased_cannot_be_replaced(operator: Client, letter: DeadLetter) -> None:
    DeadLetter.objects.update(erased_at=timezone.now())
    answer = operator.post(url("save", letter), {"payload": "{}", "reason": "a typo"})
    assert answer.status_code == 409
    assert "it can be neither replaced nor replayed" in answer.content.decode()
