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
from tests.markup import read_html

pytestmark = pytest.mark.django_db
Make = Callable[..., list[DeadLetter]]
URL = "/dead-letters/rules/"


@pytest.fixture
def rule(someone: User) -> ClassificationRule:
    return add_rule(ClassificationRule(consumer="billing", category="dependency"), actor=someone)


def read(client: Client, rule: ClassificationRule, verb: str) -> str:
    return read_html(client.get(f"{URL}{rule.pk}/{verb}/confirm/"))


def test_a_rule_names_its_conditions_and_what_follows(
    operator: Client, someone: User, make_letters: Make
) -> None:
    make_letters(1, event_type="Paid")
    fields = {"http_status": 403, "event_type": "Paid", "category": "permanent"}
    rule = add_rule(ClassificationRule(**fields, offers_replay=False, is_security=True), actor=someone)
    for page in (
        read_html(operator.get(URL)),
        read(operator, rule, "apply"),
        read(operator, rule, "remove"),
    ):
        assert "<div>HTTP 403</div><div>event is <code>Paid</code></div>" in page
        assert "permanent</span>, no replay offered, security" in page


def test_a_rule_is_listed_under_the_name_that_letters_give_it(
    viewer: Client, someone: User, make_letters: Make
) -> None:
    rule = add_rule(
        ClassificationRule(consumer="billing", category="dependency", priority=25000), actor=someone
    )
    [letter] = make_letters(1)
    page = read_html(viewer.get(URL))
    assert f'<td data-label="Rule" class="nowrap">{letter.classified_by}</td>' in page
    assert letter.classified_by == str(rule)
    assert '<td data-label="Priority" class="num">25,000</td>' in page


def test_a_viewer_reads_rules_and_is_offered_nothing(viewer: Client, someone: User) -> None:
    page = read_html(viewer.get(URL))
    assert "An operator can add one" in page
    assert "A new rule" not in page
    add_rule(ClassificationRule(consumer="billing", category="dependency"), actor=someone)
    page = read_html(viewer.get(URL))
    assert "consumer is <code>billing</code>" in page
    assert "Apply to open letters…" not in page
    assert "Remove…" not in page


@pytest.mark.parametrize(
    ("category", "sentence"),
    [("transient", "classify it differently."), ("permanent", "leave it as it is.")],
)
def test_a_new_rule_says_what_it_does_to_the_only_letter(
    operator: Client, make_letters: Make, category: str, sentence: str
) -> None:
    make_letters(1)
    query = {"consumer": "billing", "category": category, "priority": "1", "offers_replay": "on"}
    page = read_html(operator.get(URL, query))
    assert f"The rule could be about one open letter, and would {sentence}" in page


def test_a_new_rule_is_stated_where_it_is_added(operator: Client) -> None:
    query = {"consumer": "billing", "category": "transient", "priority": "1", "is_security": "on"}
    page = read_html(operator.get(URL, query))
    stated = page[page.index("add/") : page.index("Add the rule")]
    assert "consumer is <code>billing</code>" in stated
    assert "transient</span>, no replay offered, security" in stated
    assert (
        "There is no open letter that the rule could be about. Once added, it decides how what fails"
        in stated
    )


def test_the_tables_end_with_what_nothing_knows(viewer: Client) -> None:
    page = read_html(viewer.get(URL))
    assert "what none of them knows is permanent" in page
    assert page.rindex("wrong data or state") < page.rindex("no rule matched")
    assert (
        '401 unauthorized</td><td data-label="Category"><span><span class="category permanent">permanent</span>, no'
        in page
    )


def test_a_preview_that_looks_at_some_says_so(
    operator: Client, make_letters: Make, rule: ClassificationRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_letters(3)
    monkeypatch.setattr(reclassify, "MOST_EXAMINED", 2)
    query = {"consumer": "billing", "category": "transient", "priority": "1", "offers_replay": "on"}
    page = read_html(operator.get(URL, query))
    assert (
        "Of the newest 2 open letters that the rule could be about, it would classify <b>2</b> differently."
        in page
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
    assert f'2 letters are in run <a href="/runs/{run.pk}/">{run.pk}</a>, and left out.' in page
    assert f"All open letters that {rule} could be about are in a run already." in page


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (
            1,
            "was masked under other paths than today's, so what its error says cannot be read again: it stays",
        ),
        (
            2,
            "were masked under other paths than today's, so what their errors say cannot be read again: they",
        ),
    ],
)
def test_where_nothing_can_be_read_again_no_run_is_offered(
    operator: Client,
    make_letters: Make,
    rule: ClassificationRule,
    settings: Settings,
    number: int,
    sentence: str,
) -> None:
    make_letters(number)
    settings.MASKED_PATHS = ["$.name"]
    page = read(operator, rule, "apply")
    assert sentence in page
    assert "Nothing to classify again" in page
    assert "<button" not in page[page.index("<main") : page.index("</main>")]


def test_what_was_masked_otherwise_stays_as_it_is(
    operator: Client, make_letters: Make, rule: ClassificationRule, settings: Settings
) -> None:
    make_letters(1, event_id="before")
    settings.MASKED_PATHS = ["$.name"]
    make_letters(2)
    page = read(operator, rule, "apply")
    assert "Classify 3 letters again?" in page
    assert "Each whose error can be read again gets the category" in page
    assert (
        "1 was masked under other paths than today's, so what its error says cannot be read again: it" in page
    )


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
        ({"message_pattern": "x" * 201}, "It can have at most 200 characters; this one has 201."),
    ],
)
def test_what_is_too_much_is_answered_in_our_words(
    operator: Client, wrong: dict[str, str], sentence: str
) -> None:
    answer = operator.get(URL, {"error_type": "E", "category": "permanent", "priority": "1"} | wrong)
    assert answer.status_code == 400
    assert sentence in read_html(answer)
    assert "Ensure this value" not in read_html(answer)


@pytest.mark.parametrize("pattern", ["*", "* **"])
def test_a_pattern_of_stars_alone_is_no_condition(operator: Client, pattern: str) -> None:
    given = {"category": "permanent", "priority": "1", "message_pattern": pattern}
    refused = operator.post(f"{URL}add/", given)
    assert (refused.status_code, "Give at least one condition" in read_html(refused)) == (400, True)
    assert not ClassificationRule.objects.exists()
