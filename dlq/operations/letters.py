"""Resolve, discard, restore and erase: in the request for a few letters, as a run for many."""

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db.models.functions import Now

from dashboard import audit
from dashboard.models import Run
from dashboard.runs.dispatch import dispatch
from dashboard.runs.operations import create_run
from dashboard.words import counted
from dlq import verbs
from dlq.items import LANES, freeze, set_lane_totals, without_active
from dlq.models import FailureGroup
from dlq.models.letter import LetterQuerySet
from dlq.offers import keep_supported
from dlq.operations.errors import ConfirmAgain, ReasonMissing
from dlq.preview import MOST_AT_ONCE
from dlq.selection import Selection, followers_of
from dlq.verbs import Verb


@dataclass(frozen=True)
class Done:
    """What came of it: done at once to so many letters, or a run that is on its way."""

    # Those that were touched at once.
    ids: list[int]
    # Letters that were confirmed and had moved on meanwhile; they were left alone.
    moved_count: int
    run: Run | None

    @property
    def count(self) -> int:
        return len(self.ids)


def handle_letters(
    verb: Verb,
    selection: Selection,
    *,
    confirmed: int,
    actor: audit.Actor,
    request_key: UUID,
    reason: str = "",
    with_followers: bool = False,
    replays_followers: bool = False,
) -> Done:
    """Do the verb to exactly what was confirmed; if that is no longer what there is, raise ConfirmAgain.

    `replays_followers`: when the letters are closed, what was parked behind them is replayed; then it is always a run,
    which sees to it whoever dies.
    """
    parts = [verb.can_touch(selection.letters)]
    if with_followers and verb.is_closing:
        parts.append(followers_of(selection))
    parts = [without_active(keep_supported(verb, part)) for part in parts]
    check_reason(verb, parts, reason)
    if confirmed > MOST_AT_ONCE or replays_followers:
        return start_run(
            verb,
            selection,
            parts,
            confirmed=confirmed,
            actor=actor,
            request_key=request_key,
            reason=reason,
            replays_followers=replays_followers,
        )
    with audit.action(verb.action, actor=actor, subject=selection.group or "", reason=reason) as entry:
        ids = [pk for part in parts for pk in part.values_list("pk", flat=True)[: MOST_AT_ONCE + 1]]
        # Ticked letters may have moved on, and are reported; more than were confirmed are never touched.
        if len(ids) > confirmed or (len(ids) != confirmed and not selection.is_by_hand):
            raise ConfirmAgain(confirmed, sum(part.count() for part in parts))
        touched = verbs.apply(verb, ids, actor=str(actor), reason=reason)
        close_group(verb, selection)
        entry.details = selection.description | {"count": len(touched), "moved": confirmed - len(touched)}
    return Done(touched, confirmed - len(touched), run=None)


def start_run(
    verb: Verb,
    selection: Selection,
    parts: list[LetterQuerySet],
    *,
    confirmed: int,
    actor: audit.Actor,
    request_key: UUID,
    reason: str,
    replays_followers: bool,
) -> Done:
    """Freeze exactly the confirmed letters and send the run on its way; a double click is one run."""
    with audit.action(verb.action, actor=actor, reason=reason) as entry:
        run, is_new = create_run(
            verb.name,
            title=f"{verb.name.capitalize()} {counted(confirmed, 'letter')}",
            lane_totals=[0] * LANES,
            request_key=request_key,
            actor=actor,
            reason=reason,
            options=selection.description
            | {"watermark": selection.watermark, "replays_followers": replays_followers},
        )
        entry.subject = run
        if is_new:
            frozen = sum(freeze(run, part) for part in parts)
            if frozen != confirmed:
                raise ConfirmAgain(confirmed, frozen)
            set_lane_totals(run)
            close_group(verb, selection)
            entry.details = selection.description | {"count": frozen}
    dispatch(run)
    return Done([], 0, run)


def check_reason(verb: Verb, parts: list[LetterQuerySet], reason: str) -> None:
    if reason.strip() or not (verb.needs_reason or verb.is_closing):
        return
    if verb.needs_reason:
        raise ReasonMissing(f"Give a reason: what is {verb.done} needs one.")
    critical = list(settings.CRITICAL_CONSUMERS)
    if any(part.filter(consumer__in=critical).exists() for part in parts):
        raise ReasonMissing("Give a reason: a consumer that must not lose an event needs one.")


def close_group(verb: Verb, selection: Selection) -> None:
    """Closing a group as a whole says that it is over: what fails in it from now on is a regression."""
    if selection.group and verb.is_closing:
        FailureGroup.objects.filter(pk=selection.group.pk).update(resolved_at=Now(), regressed_at=None)
