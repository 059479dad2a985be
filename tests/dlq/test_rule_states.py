"""The rules' pages in their rarer states: every condition, every consequence, counts that stop, and who may not."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from pytest_django.fixtures import Settings

from dlq import reclassify
from dlq.models import ClassificationRule, DeadLetter
from dlq.operations import add_rule, apply_rules
from dlq.queries import rules as queries
from dlq.selection import newest_id
from dlq.views import rules as views

pytestmark = pytest.mark.django_db
Make = Callable[..., list[DeadLetter]]
URL = "/dead-letters/rules/"


@pytest.fixture
def rule(someone: User) -> ClassificationRule:
    return add_rule(ClassificationRule(consumer="billing", category="dependency"), actor=someone)


def read(client: Client, rule: ClassificationRule, verb: str) -> str:
    return client.get(f"{URL}{rule.pk}/{verb}/confirm/").content.decode()


def test_a_rule_names_its_conditions_and_what_follows(
    operator: Client, someone: User, make_letters: Make
) -> None:
    make_letters(1, event_type="Paid")
    fields = {"http_status": 403, "event_type": "Paid", "category": "permanent"}
    rule = add_rule(ClassificationRule(**fields, offers_replay=False, is_security=True), actor=someone)
    for page in (
        operator.get(URL).content.decode(),
        read(operator, rule, "apply"),
        read(operator, rule, "remove"),
    ):
        assert "<div>HTTP 403</div><div>event is <code>Paid</code></div>" in page
        assert "permanent</span>, no replay offered, security" in page


def test_a_viewer_reads_rules_and_is_offered_nothing(viewer: Client, someone: User) -> None:
    page = viewer.get(URL).content.decode()
    assert "An operator can add one" in page
    assert "A new rule" not in page
    add_rule(ClassificationRule(consumer="billing", category="dependency"), actor=someone)
    page = viewer.get(URL).content.decode()
    assert "consumer is <code>billing</code>" in page
    assert "Apply to open letters…" not in page
    assert "Remove…" not in page


@pytest.mark.parametrize(
    ("category", "sentence"),
    [("transient", "it would classify it differently."), ("permanent", "it would leave it as it is.")],
)
def test_a_new_rule_says_what_it_does_to_the_only_letter(
    operator: Client, make_letters: Make, category: str, sentence: str
) -> None:
    make_letters(1)
    query = {"consumer": "billing", "category": category, "priority": "1", "offers_replay": "on"}
    page = operator.get(URL, query).content.decode()
    assert f"One open letter is one that it could be about; {sentence}" in page


def test_a_preview_that_looks_at_some_says_so(
    operator: Client, make_letters: Make, rule: ClassificationRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_letters(3)
    monkeypatch.setattr(reclassify, "MOST_EXAMINED", 2)
    query = {"consumer": "billing", "category": "transient", "priority": "1", "offers_replay": "on"}
    page = operator.get(URL, query).content.decode()
    assert (
        "Of the newest 2 open letters that it could be about, it would classify <b>2</b> differently." in page
    )
    page = read(operator, rule, "apply")
    assert (
        "Of the newest 2, <b>0</b> would be classified differently; the rest were not looked at yet." in page
    )


def test_letters_that_are_all_in_runs_leave_nothing(
    operator: Client, someone: User, make_letters: Make, rule: ClassificationRule
) -> None:
    make_letters(2)
    run = apply_rules(rule, watermark=newest_id(), confirmed=2, actor=someone, request_key=uuid4())
    page = read(operator, rule, "apply")
    assert "Nothing to classify again" in page
    assert f'2 are in run <a href="/runs/{run.pk}/">{run.pk}</a> and left out.' in page
    assert f"All open letters that {rule} could be about are in runs." in page


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (1, "It was masked by other rules than today&#x27;s and stays as it is."),
        (2, "2 were masked by other rules than today&#x27;s and stay as they are."),
    ],
)
def test_what_was_masked_otherwise_stays_as_it_is(
    operator: Client,
    make_letters: Make,
    rule: ClassificationRule,
    settings: Settings,
    number: int,
    sentence: str,
) -> None:
    make_letters(number)
    settings.MASKED_PATHS = ["$.name"]
    assert sentence.replace("&#x27;", "'") in read(operator, rule, "apply").replace("&#x27;", "'")


def test_of_one_letter_it_is_said_whether_it_changes(
    operator: Client, someone: User, make_letters: Make, rule: ClassificationRule
) -> None:
    make_letters(1)
    assert "It would stay as it is." in read(operator, rule, "apply")
    DeadLetter.objects.update(category="permanent")
    assert "It would be classified differently." in read(operator, rule, "apply")


def test_what_it_decided_is_counted_up_to_a_limit(
    operator: Client, make_letters: Make, rule: ClassificationRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_letters(3)
    for module in (queries, views):
        monkeypatch.setattr(module, "MOST_DECIDED", 2)
    assert "<b>Over 2</b> open letters have their category from it" in read(operator, rule, "remove")


def test_what_cannot_be_counted_in_time_is_said_to_be_unknown(
    operator: Client, make_letters: Make, rule: ClassificationRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_letters(1)

    def slow(execute: Any, sql: str, *rest: Any) -> Any:
        return execute(sql.replace("COUNT(*)", "COUNT(*) + length(pg_sleep(10)::text)"), *rest)

    monkeypatch.setattr(queries, "COUNT_SECONDS", 0.05)
    with connection.execute_wrapper(slow):
        assert "could not be counted in time" in read(operator, rule, "remove")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"priority": "99999999999"}, "It must be a whole number; the smallest is asked first."),
        ({"http_status": "99999"}, "It must be a number from 100 to 599."),
        ({"message_pattern": "x" * 201}, "It can have 200 characters; this has 201."),
    ],
)
def test_what_is_too_much_is_answered_in_our_words(
    operator: Client, wrong: dict[str, str], sentence: str
) -> None:
    answer = operator.get(URL, {"error_type": "E", "category": "permanent", "priority": "1"} | wrong)
    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert "Ensure this value" not in answer.content.decode()
