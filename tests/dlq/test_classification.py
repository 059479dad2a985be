"""Classification: the documents' tables, and the operator's rules before them."""

import pytest

from dlq.api import record_failure
from dlq.classification import Classifier, Facts, Verdict
from dlq.classification.verdict import ACTIONS
from dlq.fingerprints import normalise
from dlq.models import ClassificationRule, DeadLetter
from dlq.models.words import Category


def classify(
    error_type: str, message: str, rules: list[ClassificationRule] | None = None, **facts: str
) -> Verdict:
    given = {"consumer": "billing", "event_type": "Paid"} | facts
    return Classifier(rules or []).classify(
        Facts(**given, error_type=error_type, message=message, normal_message=normalise(message))
    )


@pytest.mark.parametrize(
    ("error_type", "message", "category"),
    [
        # C1: transient, permanent, poison
        ("", "Kafka broker connection timed out", "transient"),
        ("StripeError", "HTTP 429 too many requests", "transient"),
        ("InvalidTransition", "release when AWAIT_FUNDS", "permanent"),
        ("", "malformed Protobuf payload", "permanent"),
        ("", "corrupted Protobuf payload", "poison"),
        ("", "Circular reference in event data", "poison"),
        ("MemoryError", "", "poison"),
        ("json.JSONDecodeError", "Expecting value", "poison"),
        # A: the three kinds of failure
        ("OperationalError", "server closed the connection", "infrastructure"),
        ("ConnectionRefusedError", "[Errno 111]", "dependency"),
        # E: HTTP, network, Service Bus
        ("HTTPError", "503 Server Error: Service Unavailable", "dependency"),
        ("HTTPError", "500 Server Error", "transient"),
        ("TargetError", "orders-api answered 422", "permanent"),
        ("", "DNS lookup failed", "transient"),
        ("", "TLS handshake failure", "transient"),
        ("", "network unreachable", "dependency"),
        ("ServiceBusError", "429 throttling by the namespace", "transient"),
        # D: eventsource-py
        ("ValueError", "negative total -5.0", "permanent"),
        ("SomethingElse", "nobody knows", "permanent"),
    ],
)
def test_the_shipped_tables(error_type: str, message: str, category: str) -> None:
    assert classify(error_type, message).category == category


@pytest.mark.parametrize(
    "message", ["HTTP 401 Unauthorized", "status code: 403", "authentication failed for sender"]
)
def test_refused_credentials_are_a_security_matter_and_are_not_offered_for_replay(message: str) -> None:
    verdict = classify("", message)
    assert (verdict.is_security, verdict.offers_replay) == (True, False)


@pytest.mark.parametrize("message", ["HTTP 400", "HTTP 404", "HTTP 413", "HTTP 422"])
def test_client_errors_are_not_offered_for_replay(message: str) -> None:
    verdict = classify("", message)
    assert (verdict.category, verdict.offers_replay, verdict.is_security) == ("permanent", False, False)


def test_every_category_says_what_to_do() -> None:
    assert set(ACTIONS) == set(Category)


def test_numbers_that_are_no_status_mean_nothing() -> None:
    assert classify("Odd", "500 items left, order 404").rule == "no rule matched"


def test_the_operators_rules_come_first_by_priority() -> None:
    late = ClassificationRule(pk=1, priority=20, error_type="ValueError", category="poison")
    early = ClassificationRule(
        pk=2, priority=10, message_pattern="total*order", category="dependency", offers_replay=False
    )
    verdict = classify("ValueError", "bad total -5 for ORDER 1", [early, late])
    assert (verdict.category, verdict.rule, verdict.offers_replay) == ("dependency", "rule 2", False)
    assert classify("ValueError", "bad", [early, late]).category == "poison"


@pytest.mark.parametrize(
    "condition",
    [{"consumer": "ledger"}, {"event_type": "Shipped"}, {"http_status": 404}, {"message_pattern": "x*y"}],
)
def test_every_condition_of_a_rule_must_hold(condition: dict[str, object]) -> None:
    rule = ClassificationRule(pk=1, error_type="ValueError", category="poison", **condition)
    assert classify("ValueError", "bad", [rule]).category == "permanent"


@pytest.mark.django_db
def test_what_the_reporter_says_stands_unless_a_rule_knows_better() -> None:
    letter = DeadLetter.objects.get(pk=record_failure(consumer="c", event_id="1", category="TRANSIENT"))
    assert (letter.category, letter.classified_by) == ("transient", "the reporter")
    ClassificationRule.objects.create(consumer="c", category="poison")
    letter = DeadLetter.objects.get(pk=record_failure(consumer="c", event_id="2", category="TRANSIENT"))
    assert (letter.category, letter.tier) == ("poison", "poison")
