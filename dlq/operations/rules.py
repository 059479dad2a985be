"""Classification rules: add one, remove one, and bring the letters that are there in line with them."""

from uuid import UUID

from dashboard import audit
from dashboard.models import Run
from dashboard.runs.dispatch import dispatch
from dashboard.runs.operations import create_run
from dlq.items import LANES, freeze, set_lane_totals, without_active
from dlq.models import ClassificationRule
from dlq.reclassify import candidates


def add_rule(rule: ClassificationRule, *, actor: audit.Actor) -> ClassificationRule:
    """Save the rule; it holds for what fails from now on."""
    with audit.action("rule.add", actor=actor) as entry:
        rule.added_by = str(actor)
        rule.save()
        entry.subject = rule
        entry.details = describe(rule)
    return rule


def remove_rule(rule: ClassificationRule, *, actor: audit.Actor) -> None:
    with audit.action("rule.remove", actor=actor, subject=str(rule)) as entry:
        entry.details = describe(rule)
        rule.delete()


def apply_rules(rule: ClassificationRule, *, actor: audit.Actor, request_key: UUID) -> Run:
    """Classify again all open letters that the rule could be about, as a run."""
    with audit.action("rule.apply", actor=actor) as entry:
        run, is_new = create_run(
            "reclassify",
            title=f"Classify letters again for {rule}",
            lane_totals=[0] * LANES,
            request_key=request_key,
            actor=actor,
            options=describe(rule),
        )
        entry.subject = run
        if is_new:
            entry.details = {"count": freeze(run, without_active(candidates(rule)))}
            set_lane_totals(run)
    dispatch(run)
    return run


def describe(rule: ClassificationRule) -> dict[str, object]:
    names = ("error_type", "http_status", "message_pattern", "consumer", "event_type", "category", "priority")
    return {name: getattr(rule, name) for name in names if getattr(rule, name) not in ("", None)}
