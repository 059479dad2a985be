"""Which letters a replay takes along, and which it leaves out; the preview and the freeze both ask here."""

from dataclasses import dataclass, replace
from datetime import timedelta

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.db.models.lookups import GreaterThan, LessThan

from dashboard.paging import row_value
from dlq.models import DeadLetter, LetterRunItem
from dlq.models.letter import LetterQuerySet
from dlq.models.words import Status, Tier
from dlq.selection import Selection, followers_of, without_active
from dlq.targets import AnyTarget, HandlerTarget, find_target

OPEN = (Status.FAILED, Status.PARKED)


@dataclass(frozen=True)
class Plan:
    """The letters that are selected and may be replayed, and the followers that come along."""

    selected: LetterQuerySet
    followers: LetterQuerySet
    # Selected and left out, by the reason.
    left_out: dict[str, LetterQuerySet]
    targets: dict[tuple[str, str], AnyTarget]

    @property
    def parts(self) -> list[LetterQuerySet]:
        return [self.selected, self.followers]


def make_plan(selection: Selection, *, force: bool = False, with_earlier: bool = False) -> Plan:
    """`force` takes poison too, and what is not offered for replay; `with_earlier` what stands before the selected."""
    opened = selection.letters.filter(status__in=OPEN)
    consumers = opened.order_by().values_list("source", "consumer").distinct()
    found = {key: find_target(*key) for key in consumers}
    targets = {key: target for key, target in found.items() if target}
    opened = without_active(opened)
    left_out = leave_out(opened, found, force=force)
    condition = Q()
    for letters in left_out.values():
        condition &= ~Q(pk__in=letters.values("pk"))
    taken = opened.filter(condition)
    # What stands behind a letter that stays would only be held.
    staying = [letters for letters in left_out.values() if letters.exists()]
    for letters in staying:
        taken = taken.exclude(stands_behind(letters))
    followers = without_active(followers_of(replace(selection, letters=taken)))
    for letters in staying:
        followers = followers.exclude(stands_behind(letters))
    if with_earlier:
        followers = followers | without_active(list_earlier(taken))
    return Plan(taken, followers, left_out, targets)


def leave_out(
    opened: LetterQuerySet, found: dict[tuple[str, str], AnyTarget | None], *, force: bool
) -> dict[str, LetterQuerySet]:
    """Selected letters that are not replayed, by the reason; a letter is counted under the first that holds."""
    nowhere = Q()
    for (source, consumer), target in found.items():
        if target is None:
            nowhere |= Q(source=source, consumer=consumer)
    reasons: dict[str, Q] = {"no_target": nowhere, "erased": Q(erased_at__isnull=False)}
    if not force:
        reasons |= {"poison": Q(tier=Tier.POISON), "not_offered": Q(offers_replay=False)}
    left_out, others = {}, Q()
    for reason, condition in reasons.items():
        if condition:
            left_out[reason] = (
                opened.filter(condition).exclude(others) if others else opened.filter(condition)
            )
            others |= condition
    for (source, consumer), target in found.items():
        if target and target.dedup_seconds:
            recent = opened.filter(
                Exists(recently_taken(target.dedup_seconds)), source=source, consumer=consumer
            )
            left_out.setdefault("recent", DeadLetter.objects.none())
            left_out["recent"] |= recent.exclude(others) if others else recent
    return left_out


def recently_taken(seconds: int) -> QuerySet[LetterRunItem]:
    """Replays that the target took within its dedup window: it would drop the event, and we would call that done."""
    return LetterRunItem.objects.filter(
        letter=OuterRef("pk"), outcome__in=["succeeded", "sent"], at__gt=Now() - timedelta(seconds=seconds)
    )


def stands_behind(letters: LetterQuerySet) -> Exists:
    """Whether a letter has one of these before it in its sequence."""
    return Exists(in_same_sequence(letters, LessThan))


def in_same_sequence(letters: LetterQuerySet, compare: type[LessThan] | type[GreaterThan]) -> LetterQuerySet:
    place = row_value(F("sequence_no"), F("pk"))
    here = row_value(OuterRef("sequence_no"), OuterRef("pk"))
    return letters.filter(
        compare(place, here),
        sequence_key=OuterRef("sequence_key"),
        consumer=OuterRef("consumer"),
        source=OuterRef("source"),
    ).exclude(sequence_key="")


def list_earlier(taken: LetterQuerySet) -> LetterQuerySet:
    """Open letters that stand before a taken one in its sequence and are not taken themselves."""
    return DeadLetter.objects.filter(
        Exists(in_same_sequence(taken, GreaterThan)), status__in=OPEN, tier=Tier.DEAD_LETTER
    ).exclude(pk__in=taken.values("pk"))


def why_no_dry_run(plan: Plan) -> str:
    """Empty: a dry run is possible."""
    for (_, consumer), target in sorted(plan.targets.items()):
        if not isinstance(target, HandlerTarget):
            return f"{consumer} is replayed to {target.name}: what is sent there cannot be undone."
        if not target.supports_dry_run:
            return f"{consumer} declares effects outside this database, which cannot be undone."
    return ""
