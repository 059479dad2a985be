"""A rule is applied to exactly the letters that were counted, and removed only after the same question."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from dashboard.models import AuditEntry, Run
from dlq.models import ClassificationRule, DeadLetter, LetterRunItem
from dlq.operations import add_rule, apply_rules
from dlq.selection import newest_id

pytestmark = pytest.mark.django_db
Make = Callable[..., list[DeadLetter]]


@pytest.fixture
def rule(someone: User) -> ClassificationRule:
    fields = {"consumer": "billing", "message_pattern": "total", "category": "dependency"}
    return add_rule(ClassificationRule(**fields, runbook="Call them."), actor=someone)


def address(rule: ClassificationRule, verb: str) -> str:
    return f"/dead-letters/rules/{rule.pk}/{verb}/"


def form(count: int, **fields: object) -> dict[str, object]:
    return {"count": count, "watermark": newest_id(), "request_key": uuid4()} | fields


def test_it_is_asked_with_the_number_and_what_follows(
    operator: Client, make_letters: Make, rule: ClassificationRule
) -> None:
    make_letters(3)
    DeadLetter.objects.update(category="permanent", classified_by="")
    make_letters(2, consumer="other")
    page = operator.get(address(rule, "apply/confirm")).content.decode()
    assert "Classify 3 letters again?" in page
    assert "<b>3</b> of them would be classified differently" in page
    assert not Run.objects.exists()


def test_exactly_the_confirmed_are_classified_again(
    operator: Client, make_letters: Make, rule: ClassificationRule
) -> None:
    make_letters(3)
    confirmed = form(3, reason="as agreed")
    make_letters(1, event_id="later")
    answer = operator.post(address(rule, "apply"), confirmed)
    run = Run.objects.get()
    assert answer["Location"] == f"/runs/{run.pk}/"
    assert (LetterRunItem.objects.filter(run=run).count(), run.reason) == (3, "as agreed")
    entry = AuditEntry.objects.get(action="rule.apply")
    assert (entry.reason, entry.details["count"]) == ("as agreed", 3)


def test_another_number_than_the_confirmed_is_asked_about_again(
    operator: Client, make_letters: Make, rule: ClassificationRule
) -> None:
    make_letters(3)
    answer = operator.post(address(rule, "apply"), form(2, reason="kept"))
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "2 letters were confirmed, and now there are 3. Nothing was changed." in page
    assert "came since" not in page
    assert 'name="count" value="3"' in page
    assert 'value="kept"' in page
    confirmed = form(2)
    make_letters(1, event_id="later")
    page = operator.post(address(rule, "apply"), confirmed).content.decode()
    assert "and now there are 3, or 4 with what came since. Nothing was changed." in page
    assert not Run.objects.exists()


def test_what_another_run_has_is_left_out_and_named(
    operator: Client, someone: User, make_letters: Make, rule: ClassificationRule
) -> None:
    make_letters(2)
    run = apply_rules(rule, watermark=newest_id(), confirmed=2, actor=someone, request_key=uuid4())
    make_letters(1, event_id="later")
    page = operator.get(address(rule, "apply/confirm")).content.decode()
    assert "Classify 1 letter again?" in page
    assert f'2 more letters are in run <a href="/runs/{run.pk}/">{run.pk}</a>, and left out.' in page


def test_nothing_is_no_run(operator: Client, rule: ClassificationRule) -> None:
    page = operator.get(address(rule, "apply/confirm")).content.decode()
    assert "Nothing to classify again" in page
    refused = operator.post(address(rule, "apply"), form(0))
    assert (refused.status_code, b"No run was started." in refused.content) == (409, True)
    assert not Run.objects.exists()


def test_many_are_typed(
    operator: Client, make_letters: Make, rule: ClassificationRule, settings: Settings
) -> None:
    settings.TYPE_NUMBER_ABOVE = 2
    make_letters(3)
    assert "Type the number of letters, 3" in operator.get(address(rule, "apply/confirm")).content.decode()
    refused = operator.post(address(rule, "apply"), form(3))
    assert (refused.status_code, b"type that number" in refused.content) == (422, True)
    page = operator.post(address(rule, "apply"), form(4)).content.decode()
    assert '<p class="message bad" role="alert">4 letters were confirmed, and now there are 3.' in page
    assert operator.post(address(rule, "apply"), form(3, typed="3")).status_code == 302


def test_a_double_click_is_one_run(operator: Client, make_letters: Make, rule: ClassificationRule) -> None:
    make_letters(3)
    confirmed = form(3)
    places = {operator.post(address(rule, "apply"), confirmed)["Location"] for _ in range(2)}
    assert len(places) == 1
    assert Run.objects.count() == 1


def test_removing_says_how_many_keep_its_category(
    operator: Client, make_letters: Make, rule: ClassificationRule
) -> None:
    make_letters(3)
    assert DeadLetter.objects.filter(classified_by=str(rule)).count() == 3
    page = operator.get(address(rule, "remove/confirm")).content.decode()
    assert "<b>3</b> open letters have their category from it, and keep it" in page
    assert "Its runbook is gone with it." in page
    operator.post(address(rule, "remove"), {"reason": "wrong"})
    assert not ClassificationRule.objects.exists()
    assert AuditEntry.objects.get(action="rule.remove").reason == "wrong"


@pytest.mark.parametrize("verb", ["apply", "remove"])
def test_a_viewer_may_not_and_a_link_does_not(
    viewer: Client, operator: Client, rule: ClassificationRule, verb: str
) -> None:
    assert viewer.get(address(rule, f"{verb}/confirm")).status_code == 403
    assert viewer.post(address(rule, verb)).status_code == 403
    assert operator.get(address(rule, verb)).status_code == 405
    assert ClassificationRule.objects.exists()
