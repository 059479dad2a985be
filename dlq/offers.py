"""What can be done with a letter, as its source and its consumer's target allow; where not, a sentence says why."""

from dataclasses import dataclass

from dlq.models.letter import LetterQuerySet
from dlq.targets import find_target
from dlq.verbs import Verb
from sources.api import list_read_only, why_not


@dataclass(frozen=True)
class Offers:
    """Empty sentences: it can be done."""

    why_no_replay: str
    # Resolve, discard and restore.
    why_no_status: str


def find_offers(source: str, consumer: str) -> Offers:
    target = find_target(source, consumer)
    no_target = (
        f"Nobody has said where letters of {consumer} are replayed to; redrive.toml can name a target."
    )
    return Offers("" if target else no_target, why_not(source, "writes_status"))


def find_refusing(verb: Verb) -> dict[str, str]:
    """The sources whose letters the verb leaves alone, since it could not be written back there, and why."""
    return list_read_only() if verb.writes_status else {}


def keep_supported(verb: Verb, letters: LetterQuerySet) -> LetterQuerySet:
    """Without the letters of sources that the verb cannot be written back to."""
    refusing = find_refusing(verb)
    return letters.exclude(source__in=list(refusing)) if refusing else letters
