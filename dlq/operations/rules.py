"""Classification rules: add one, remove one, and bring the letters that are there in line with them."""

from uuid import UUID

from dashboard import audit
from dashboard.models import Run
from dashboard.runs.dispatch import dispatch
from dashboard.runs.operations import create_run
from dashboard.words import counted
from dlq.items import LANES, freeze, set_lane_totals, without_active
from dlq.models import ClassificationRule
from dlq.operations.errors import ConfirmAgain, OperationError
from dlq.reclassify import candidates


class NothingToClassify(OperationError):
    """No open letter is one that the rule could be about."""

    def __init__(self, rule: ClassificationRule) -> None:
        super().__init__(f"No open letter is one that {rule} could be about, so no run was started.")


def add_rule(rule: ClassificationRule, *, actor: audit.Actor) -> ClassificationRule:
    """Save the rule; it holds for what fails from now on."""
    with audit.action("rule.add", actor=actor) as entry:
        rule.added_by = str(actor)
        rule.save()
        entry.subject = rule
        entry.details = describe(rule)
    return rule


def remove_rule(rule: ClassificationRule, *, actor: audit.Actor, reason: str = "") -> None:
    with audit.action("rule.remove", actor=actor, subject=str(rule), reason=reason) as entry:
        entry.details = describe(rule)
        rule.delete()


def apply_rules(
    rule: ClassificationRule,
    *,
    watermark: int,
    confirmed: int,
    actor: audit.Actor,
    request_key: UUID,
    reason: str = "",
) -> Run:
    """Classify again exactly the confirmed letters that the rule could be about; a double click is one run."""
    with audit.action("rule.apply", actor=actor, reason=reason) as entry:
        run, is_new = create_run(
            "reclassify",
            title=f"Classify {counted(confirmed, 'letter')} again for {rule}",
            lane_totals=[0] * LANES,
            request_key=request_key,
            actor=actor,
            reason=reason,
            options=describe(rule) | {"watermark": watermark},
        )
        entry.subject = run
        if is_new:
            frozen = freeze(run, without_active(candidates(rule).filter(pk__lte=watermark)))
            if frozen != confirmed:
                raise ConfirmAgain(confirmed, frozen)
            if not frozen:
                raise NothingToClassify(rule)
            set_lane_totals(run)
            entry.details = describe(rule) | {"count": frozen}
    dispatch(run)
    return run


def describe(rule: ClassificationRule) -> dict[str, object]:
    names = ("error_type", "http_status", "message_pattern", "consumer", "event_type", "category", "priority")
    return {name: getattr(rule, name) for name in names if getattr(rule, name) not in ("", None)}
