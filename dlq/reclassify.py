"""Classifying letters again after the rules changed."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Case, F, QuerySet, Value, When
from django.db.models.functions import Coalesce, Left

from dlq.classification import REPORTER, Classifier, Facts, Verdict
from dlq.fingerprints import MOST_CHARACTERS, normalise
from dlq.masking import get_masking
from dlq.models import ClassificationRule, DeadLetter, FailureGroup
from dlq.models.letter import LetterQuerySet
from dlq.models.words import Tier

# A preview looks at no more than this, and says so.
MOST_EXAMINED = 2_000


@dataclass(frozen=True)
class Reclassified:
    """How many of the letters looked at a rule would classify differently; exact if it looked at all of them."""

    number: int
    examined_count: int
    is_exact: bool


def candidates(rule: ClassificationRule) -> LetterQuerySet:
    """The open letters that a rule could be about, as far as the indexes know."""
    given = {
        name: getattr(rule, name) for name in ("consumer", "event_type", "error_type") if getattr(rule, name)
    }
    return DeadLetter.objects.open().filter(**given)


def count_reclassified(rule: ClassificationRule, letters: LetterQuerySet | None = None) -> Reclassified:
    """What applying this rule would change, saved already or not, in all that it could be about or in these of them."""
    others = ClassificationRule.objects.exclude(pk=rule.pk)
    classifier = Classifier(sorted([*others, rule], key=lambda one: (one.priority, one.pk or 2**63)))
    newest = with_facts(candidates(rule) if letters is None else letters).order_by("-last_failed_at", "-pk")
    found = list(newest[: MOST_EXAMINED + 1])
    examined = found[:MOST_EXAMINED]
    number = sum(is_changed(letter, judge(letter, classifier)) for letter in examined)
    return Reclassified(number, len(examined), is_exact=len(found) <= MOST_EXAMINED)


def reclassify(ids: list[int]) -> dict[int, str]:
    """Bring open letters in line with the rules; returns "changed", "same" or "unread" for each that is still open."""
    classifier = Classifier()
    locked = DeadLetter.objects.open().filter(pk__in=ids).select_for_update().order_by("pk")
    outcomes = dict.fromkeys(locked.values_list("pk", flat=True), "unread")
    verdicts: dict[Verdict, list[DeadLetter]] = {}
    for letter in with_facts(DeadLetter.objects.filter(pk__in=outcomes)):
        verdict = judge(letter, classifier)
        outcomes[letter.pk] = "changed" if is_changed(letter, verdict) else "same"
        if is_changed(letter, verdict):
            verdicts.setdefault(verdict, []).append(letter)
    lock_groups(letter for letters in verdicts.values() for letter in letters)
    for verdict, letters in verdicts.items():
        DeadLetter.objects.filter(pk__in=[letter.pk for letter in letters]).update(
            category=verdict.category,
            classified_by=verdict.rule,
            is_security=verdict.is_security,
            offers_replay=verdict.offers_replay,
            # Once poison, always poison: a replay may have made it so.
            tier=Case(When(tier=Tier.POISON, then=Value(Tier.POISON)), default=Value(verdict.tier)),
        )
        FailureGroup.objects.filter(pk__in={letter.group_id for letter in letters}).update(
            category=verdict.category
        )
    return outcomes


def lock_groups(letters: Iterable[DeadLetter]) -> None:
    """By id, as everybody does: two lanes may have letters of the same groups."""
    ids = [letter.group_id for letter in letters if letter.group_id]
    list(FailureGroup.objects.filter(pk__in=ids).order_by("pk").select_for_update().values_list("pk"))


def with_facts(letters: QuerySet[DeadLetter]) -> QuerySet[DeadLetter]:
    """The letters with the beginning of their message, as masked; without those masked by other rules than today's."""
    message = Left(Coalesce(F("body__masked_message"), F("body__error_message")), MOST_CHARACTERS)
    return letters.annotate(message=message).filter(mask_key=get_masking().key)


def judge(letter: DeadLetter, classifier: Classifier) -> Verdict:
    message: str = letter.message  # type: ignore[attr-defined]
    facts = Facts(letter.consumer, letter.event_type, letter.error_type, message, normalise(message))
    # What the reporter said still counts, unless a rule knows better.
    return classifier.classify(facts, letter.category if letter.classified_by == REPORTER else "")


def is_changed(letter: DeadLetter, verdict: Verdict) -> bool:
    return (letter.category, letter.offers_replay, letter.is_security) != (
        verdict.category,
        verdict.offers_replay,
        verdict.is_security,
    )
