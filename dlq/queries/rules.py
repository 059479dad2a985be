"""The shipped rules as a list, and the runbook that belongs to a group."""

from dataclasses import dataclass
from urllib.parse import quote

from django.conf import settings

from dlq.classification import Verdict
from dlq.classification.shipped import BY_NAME, BY_STATUS, BY_WORDS
from dlq.models import ClassificationRule
from dlq.queries.group import GroupDetail


@dataclass(frozen=True)
class Runbook:
    """What to do, as text or as an address."""

    text: str

    @property
    def is_link(self) -> bool:
        return self.text.startswith(("https://", "http://"))


def list_shipped_rules() -> list[Verdict]:
    """Each shipped verdict once, in the order in which they are asked."""
    verdicts = [*BY_STATUS.values(), *BY_NAME.values(), *(verdict for verdict, _ in BY_WORDS)]
    return list(dict.fromkeys(verdicts))


def find_runbook(detail: GroupDetail) -> Runbook | None:
    """The runbook of the rule that classified the newest letter, else the configured address; None: there is none."""
    for letter in detail.samples[:1]:
        name, _, number = letter.classified_by.partition(" ")
        if name == "rule" and number.isdigit():
            rule = ClassificationRule.objects.filter(pk=number).exclude(runbook="").first()
            if rule:
                return Runbook(rule.runbook)
    if not settings.RUNBOOK_URL:
        return None
    group = detail.group
    values = {
        name: quote(getattr(group, name), safe="")
        for name in ("consumer", "error_type", "category", "source")
    }
    return Runbook(settings.RUNBOOK_URL.format(**values))
