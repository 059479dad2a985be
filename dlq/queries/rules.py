"""The shipped rules as a list, and the runbook that belongs to a group."""

from dataclasses import dataclass
from urllib.parse import quote

from django.conf import settings

from dashboard.bounded import TooSlowError, bounded
from dlq.classification import Verdict
from dlq.classification.shipped import BY_NAME, BY_STATUS, BY_WORDS, UNKNOWN
from dlq.items import count_by_run, without_active
from dlq.models import ClassificationRule
from dlq.queries.group import GroupDetail
from dlq.reclassify import Reclassified, candidates, count_reclassified
from dlq.selection import newest_id

# What a rule that is to be removed decided is counted no further than this.
MOST_DECIDED = 10_000
# A page waits no longer for a count.
COUNT_SECONDS = 0.2


@dataclass(frozen=True)
class RulePreview:
    """What applying a rule would touch; `count` is what is confirmed, exactly."""

    watermark: int
    count: int
    # Of those, how many would be classified differently.
    changed: Reclassified
    # Already in an active run, and therefore left out; the runs' ids.
    in_run_count: int
    run_ids: list[int]

    @property
    def unread_count(self) -> int:
        """Masked under other paths than today's: nobody can tell what a pattern would find, so they stay."""
        return self.count - self.changed.examined_count if self.changed.is_exact else 0

    @property
    def is_empty(self) -> bool:
        """Whether there is none that could be classified again."""
        return self.unread_count == self.count


@dataclass(frozen=True)
class Runbook:
    """What to do, as text or as an address."""

    text: str

    @property
    def is_link(self) -> bool:
        return self.text.startswith(("https://", "http://"))


def preview_rule(rule: ClassificationRule) -> RulePreview:
    watermark = newest_id()
    letters = candidates(rule).filter(pk__lte=watermark)
    free = without_active(letters)
    runs = count_by_run(letters)
    return RulePreview(
        watermark,
        count=free.count(),
        changed=count_reclassified(rule, free),
        in_run_count=sum(runs.values()),
        run_ids=list(runs),
    )


def count_decided(rule: ClassificationRule) -> int | None:
    """The open letters that have their category from this rule, no further than MOST_DECIDED and one.

    None: there are too many to look through; no index knows who classified a letter.
    """
    decided = candidates(rule).filter(classified_by=str(rule)).order_by()[: MOST_DECIDED + 1]
    try:
        with bounded(COUNT_SECONDS):
            return decided.count()
    except TooSlowError:
        return None


def list_shipped_rules() -> list[Verdict]:
    """Each shipped verdict once, in the order in which they are asked, and last that on what none of them knows."""
    verdicts = [*BY_STATUS.values(), *BY_NAME.values(), *(verdict for verdict, _ in BY_WORDS), UNKNOWN]
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
