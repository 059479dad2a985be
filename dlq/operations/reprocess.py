"""Handling events of the store once more: exactly those that were confirmed, by somebody who knows what that means."""

from uuid import UUID

from dashboard import audit
from dashboard.models import Run
from dashboard.runs.dispatch import dispatch
from dashboard.runs.operations import create_run
from dashboard.words import counted
from dlq.masking import get_masking
from dlq.operations.errors import ConfirmAgain
from dlq.operations.replay import ReplayRefused, refuse_if_busy, refuse_if_stopped
from dlq.queries.reprocess import EventsPlan, make_events_plan, why_no_dry_run
from dlq.replay.options import ReplayOptions
from dlq.reprocess import queue
from dlq.reprocess.choice import EventChoice
from projections.api import NATIVE, PickError


def start_reprocess(
    choice: EventChoice,
    *,
    watermark: int,
    confirmed: int,
    options: ReplayOptions,
    actor: audit.Actor,
    request_key: UUID,
    reason: str,
    acknowledged: bool,
) -> Run:
    """Freeze exactly the confirmed events and send the run on its way; a double click is one run.

    `acknowledged`: somebody knows that these were handled before, and later events of their streams too.
    """
    with audit.action("event.reprocess", actor=actor, reason=reason) as entry:
        try:
            plan = make_events_plan(choice, watermark)
        except PickError as error:
            raise ReplayRefused(str(error)) from None
        verb = "Try" if options.dry_run else "Reprocess"
        run, is_new = create_run(
            "reprocess",
            title=f"{verb} {counted(confirmed, 'event')} of {choice.consumer}",
            lane_totals=[0] * options.lanes,
            request_key=request_key,
            actor=actor,
            reason=reason,
            options=options.as_dict()
            | {"selection": choice.description, "sources": [NATIVE], "consumers": [choice.consumer]}
            | {"mask_key": get_masking().key},
        )
        entry.subject = run
        if is_new:
            refuse(plan, run, options, reason=reason, acknowledged=acknowledged)
            frozen = queue.freeze(run, plan.sql, plan.values, options)
            if frozen != confirmed:
                raise ConfirmAgain(confirmed, frozen, "event")
            if not frozen:
                raise ReplayRefused("No event matches, so no run was started.")
            entry.details = choice.description | options.as_dict() | {"count": frozen, "watermark": watermark}
    dispatch(run)
    return run


def refuse(plan: EventsPlan, run: Run, options: ReplayOptions, *, reason: str, acknowledged: bool) -> None:
    consumer = plan.pick.projection
    refuse_if_stopped()
    refuse_if_busy([consumer])
    # The projection's row is locked by now, so of two that are asked for at once the second finds the first.
    others = Run.objects.filter(kind="reprocess", options__consumers__contains=[consumer]).exclude(pk=run.pk)
    if other := others.exclude(state__in=Run.ENDED).first():
        raise ReplayRefused(
            f"Run {other.pk} ({other.title}) is at events of {consumer}; wait for it or cancel it."
        )
    if options.dry_run:
        if why_not := why_no_dry_run(plan):
            raise ReplayRefused(f"There is no dry run here: {why_not}")
        return
    if not reason.strip():
        raise ReplayRefused("Say why these events are handled once more; it stays on record.", "reason")
    if not acknowledged:
        raise ReplayRefused(
            "Nothing was started: that effects are repeated must be acknowledged.", "acknowledged"
        )
