import re
from dataclasses import dataclass
from functools import lru_cache

from dlq.classification.shipped import find_http_status, judge
from dlq.classification.verdict import Verdict
from dlq.models import ClassificationRule
from dlq.models.words import Category


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
            return Verdict(Category(reported), "the reporter", shipped.offers_replay, shipped.is_security)
        return shipped


def matches(rule: ClassificationRule, facts: Facts, http_status: int | None) -> bool:
    return (
        rule.error_type in ("", facts.error_type)
        and rule.consumer in ("", facts.consumer)
        and rule.event_type in ("", facts.event_type)
        and rule.http_status in (None, http_status)
        and (not rule.message_pattern or bool(compile_pattern(rule.message_pattern).search(facts.message)))
    )


@lru_cache(maxsize=1000)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """`*` stands for anything within 200 characters, which keeps the search linear enough; the rest is text."""
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.compile(".{0,200}?".join(parts), re.IGNORECASE | re.DOTALL)
