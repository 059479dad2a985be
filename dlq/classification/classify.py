from dataclasses import dataclass

from dlq.classification.shipped import find_http_status, judge
from dlq.classification.verdict import Verdict
from dlq.fingerprints import MOST_CHARACTERS
from dlq.models import ClassificationRule
from dlq.models.words import Category

# Stands where the name of a rule would.
REPORTER = "the reporter"


@dataclass(frozen=True)
class Facts:
    """What a rule can look at."""

    consumer: str
    event_type: str
    error_type: str
    message: str
    # The message without its values; see fingerprints.py.
    normal_message: str


class Classifier:
    """The rules as they are now; make one for each batch."""

    def __init__(self, rules: list[ClassificationRule] | None = None) -> None:
        self.rules = list(ClassificationRule.objects.all()) if rules is None else rules

    def classify(self, facts: Facts, reported: str = "") -> Verdict:
        """The operator's first match, else what the reporter said, else the shipped verdict."""
        status = find_http_status(facts.message)
        for rule in self.rules:
            if matches(rule, facts, status):
                return Verdict(Category(rule.category), str(rule), rule.offers_replay, rule.is_security)
        shipped = judge(facts.error_type, facts.normal_message, status)
        if reported and reported in Category.values:
            return Verdict(Category(reported), REPORTER, shipped.offers_replay, shipped.is_security)
        return shipped


def matches(rule: ClassificationRule, facts: Facts, http_status: int | None) -> bool:
    return (
        rule.error_type in ("", facts.error_type)
        and rule.consumer in ("", facts.consumer)
        and rule.event_type in ("", facts.event_type)
        and rule.http_status in (None, http_status)
        and (not rule.message_pattern or finds(rule.message_pattern, facts.message[:MOST_CHARACTERS]))
    )


def finds(pattern: str, text: str) -> bool:
    """Whether the parts of the pattern stand in the text in this order; `*` stands for anything between them."""
    at, text = 0, text.casefold()
    for part in pattern.casefold().split("*"):
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True
