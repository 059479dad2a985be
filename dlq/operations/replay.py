"""Replay: start it for exactly what was confirmed, again for what failed, stop all of them, allow them again."""

from uuid import UUID, uuid5

from dashboard import audit
from dashboard.models import Run
from dashboard.runs.dispatch import dispatch
from dashboard.runs.operations import create_run, note_run
from dashboard.words import counted
from dlq.masking import get_masking
from dlq.models import DeadLetter, LetterRunItem, ReplaySwitch
from dlq.needs import describe_switch
from dlq.operations.errors import ConfirmAgain, OperationError
from dlq.queries.plan import Plan, make_plan, why_no_dry_run
from dlq.queries.replay import count_later, narrow, preview_replay
from dlq.replay import queue
from dlq.replay.options import ReplayOptions
from dlq.replay.outcomes import FAILED
from dlq.selection import Selection, newest_id, parked_behind
from projections.api import lock_standings


class ReplayRefused(OperationError):
    """This replay cannot be started; the sentence says why. `field` is what was not filled in, if that is it."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


def start_replay(
    selection: Selection,
    *,
    confirmed: int,
    options: ReplayOptions,
    actor: audit.Actor,
    request_key: UUID,
    reason: str = "",
    with_earlier: bool = False,
    acknowledged: bool = False,
) -> Run:
    """Freeze exactly the confirmed letters and send the run on its way; a double click is one run.

    `acknowledged`: somebody knows that later events of these sequences were handled already.
    """
    with audit.action("replay.start", actor=actor, reason=reason) as entry:
        plan = narrow(make_plan(selection, force=options.force, with_earlier=with_earlier))
        sources = sorted({source for source, _ in plan.targets})
        consumers = sorted({consumer for _, consumer in plan.targets})
        run, is_new = create_run(
            "replay",
            title=make_title(confirmed, consumers, options),
            lane_totals=[0] * options.lanes,
            request_key=request_key,
            actor=actor,
            reason=reason,
            options=options.as_dict()
            | {"selection": selection.description, "sources": sources, "consumers": consumers}
            | {"confirms": plan.confirms, "confirmed": confirmed, "mask_key": get_masking().key},
        )
        entry.subject = run
        if is_new:
            refuse(plan, consumers, options, reason=reason, acknowledged=acknowledged)
            frozen = queue.freeze(run, plan.sql, [*plan.values, plan.fates], options)
            if frozen != confirmed:
                raise ConfirmAgain(confirmed, frozen)
            if not frozen:
                raise ReplayRefused("None of the selected letters can be replayed, so no run was started.")
            entry.details = selection.description | options.as_dict() | {"count": frozen}
    dispatch(run)
    return run


def refuse(
    plan: Plan, consumers: list[str], options: ReplayOptions, *, reason: str, acknowledged: bool
) -> None:
    refuse_if_stopped()
    refuse_if_busy(consumers)
    if options.force and not reason.strip():
        raise ReplayRefused("Say why poison, or what is not to be sent again, is replayed.", "reason")
    if options.dry_run and (why_not := why_no_dry_run(plan)):
        raise ReplayRefused(f"There is no dry run here: {why_not}")
    if not acknowledged and count_later(plan):
        raise ReplayRefused(
            "Nothing was started: that later events were handled already must be acknowledged.",
            "acknowledged",
        )


def refuse_if_stopped() -> None:
    if switch := ReplaySwitch.objects.first():
        raise ReplayRefused(f"Nothing was started. {describe_switch(switch)}")


def refuse_if_busy(consumers: list[str]) -> None:
    """Their rows stay locked until the run is committed: a rebuild that is asked for now will find it."""
    for name, standing in lock_standings(consumers).items():
        if standing.is_rebuilding:
            raise ReplayRefused(
                f"Nothing was started: {name} is being rebuilt, which handles its events anew; wait until it is done."
            )


def make_title(number: int, consumers: list[str], options: ReplayOptions) -> str:
    verb = "Try" if options.dry_run else "Replay"
    who = consumers[0] if len(consumers) == 1 else f"{len(consumers)} consumers"
    return f"{verb} {counted(number, 'letter')} of {who}"


def replay_followers(closing: Run) -> None:
    """Replay what was parked behind the letters that a run has closed; the closing was confirmed with their number.

    Called once more, by another lane or after a death, it finds the run that it had started.
    """
    request_key = uuid5(closing.request_key, "followers")
    if Run.objects.filter(request_key=request_key).exists():
        return
    heads = DeadLetter.objects.filter(pk__in=LetterRunItem.objects.filter(run=closing).values("letter"))
    watermark = closing.options["watermark"]
    selection = Selection(
        parked_behind(heads, watermark),
        watermark,
        is_by_hand=False,
        description={"followers_of_run": closing.pk},
    )
    if not selection.letters.exists():
        return
    try:
        run = start_replay(
            selection,
            confirmed=preview_replay(selection).count,
            options=ReplayOptions(canary=False),
            actor=closing.requested_by,
            request_key=request_key,
            reason=closing.reason,
            # The letters before them were closed by hand: that is the order that somebody chose.
            acknowledged=True,
        )
    except OperationError as error:
        note_run(closing, f"Their followers stay parked. {error}")
    else:
        note_run(closing, f"Run {run.pk} replays their followers.")


def find_replay(run_id: int) -> Run | None:
    """The run, if it replays letters or events; None: there is no such one."""
    return Run.objects.filter(pk=run_id, kind__in=["replay", "reprocess"]).first()


def select_failed(run: Run, watermark: int | None = None) -> Selection:
    """The letters that failed or were held in a run, up to the watermark or the newest letter there is now."""
    if watermark is None:
        watermark = newest_id()
    items = LetterRunItem.objects.filter(run=run, outcome__in=[*FAILED, "held"])
    letters = DeadLetter.objects.filter(pk__in=items.values("letter"), pk__lte=watermark)
    return Selection(letters, watermark, is_by_hand=False, description={"failed_in_run": run.pk})


def stop_replays(*, actor: audit.Actor, reason: str = "") -> None:
    """Stop every replay after the slice in hand, and start none, until somebody allows them again."""
    with audit.action("replay.stop_all", actor=actor, reason=reason):
        ReplaySwitch.objects.get_or_create(pk=1, defaults={"stopped_by": str(actor), "reason": reason})


def allow_replays(*, actor: audit.Actor, reason: str = "") -> None:
    """Replays go on where they were."""
    with audit.action("replay.allow_all", actor=actor, reason=reason):
        ReplaySwitch.objects.all().delete()
