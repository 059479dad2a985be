"""From what was reported to what is stored: cleaned, masked, fingerprinted and classified."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from dlq.classification import Classifier, Facts
from dlq.cleaning import clean_number, clean_payload, clean_text, clean_time, split_words, summarise
from dlq.fingerprints import Fingerprint, fingerprint
from dlq.masking import UNMASKED, get_masking
from dlq.recording.describe import Row, describe_error, describe_event, describe_verdict, encode
from dlq.recording.failure import Failure, Parked

Key = tuple[str, str, str]

# A timeline shows the beginning; the letter keeps the latest error in full.
ATTEMPT_MESSAGE_LENGTH = 2000
MOST_SEARCHED = 8192
# No reporter counts that far; one that seems to is mistaken.
MOST_ATTEMPTS = 1_000_000
# What a letter keeps of an earlier failure, where the later one came without the event.
EVENT = ("payload", "payload_raw", "payload_size", "headers")
# What a try keeps of its letter.
TRIED = ("last_failed_at", "duration_ms", "error_type", "category", "run_id")


@dataclass(frozen=True)
class Tried:
    """One try: the letter as it would be if there were no other, and the group of its error."""

    letter: Row
    group: Fingerprint

    def describe(self, letter_id: int, group_id: int) -> Row:
        tried = {name: self.letter[name] for name in TRIED}
        masked = self.letter["masked_message"]
        # As masked: a value that is cut in half could not be found any more.
        message = self.letter["error_message"] if masked is None else masked
        return tried | {
            "letter_id": letter_id,
            "group_id": group_id,
            "error_message": message[:ATTEMPT_MESSAGE_LENGTH],
        }


@dataclass
class Prepared:
    """A letter's rows to be: the letter with its body, and its tries by time; a parked one has none."""

    letter: Row
    tries: dict[datetime, Tried]

    @cached_property
    def key(self) -> Key:
        return self.letter["event_id"], self.letter["consumer"], self.letter["source"]

    @property
    def latest(self) -> Tried | None:
        return self.tries[max(self.tries)] if self.tries else None

    @property
    def earlier(self) -> list[Tried]:
        return [self.tries[at] for at in sorted(self.tries)[:-1]]

    @property
    def size(self) -> int:
        """Its weight in a batch, roughly in bytes."""
        letter = self.letter
        texts = len(letter["error_message"]) + len(letter["stacktrace"])
        return 1000 + texts + len(letter["payload"] or "") + len(letter["payload_raw"] or "")

    def give_up_json(self) -> None:
        """Keep the payload as bytes only."""
        document = self.letter["payload"]
        self.letter["payload"] = None
        self.letter["payload_raw"] = self.letter["payload_raw"] or encode((document or "").encode())


def fold(prepared: Iterable[Prepared]) -> list[Prepared]:
    """One for each letter, in the order of their keys: two writers that meet never wait for each other in a circle."""
    folded: dict[Key, Prepared] = {}
    for one in prepared:
        folded[one.key] = merge(folded[one.key], one) if one.key in folded else one
    return [folded[key] for key in sorted(folded)]


def merge(one: Prepared, other: Prepared) -> Prepared:
    """Two failures of one letter: the later one describes it, both are tries."""
    late, early = (
        (one, other) if one.letter["last_failed_at"] > other.letter["last_failed_at"] else (other, one)
    )
    tries = early.tries | late.tries
    attempts = max(one.letter["attempts"], other.letter["attempts"], len(tries))
    first = min(one.letter["first_failed_at"], other.letter["first_failed_at"])
    letter = late.letter | {"attempts": attempts, "first_failed_at": first}
    if early.letter["payload_size"] and not late.letter["payload_size"]:
        letter |= {name: early.letter[name] for name in EVENT}
        letter["mask_key"] = UNMASKED if letter["mask_key"] else 0
    return Prepared(letter, tries)


def prepare_failure(failure: Failure, classifier: Classifier) -> Prepared:
    masking = get_masking()
    payload = clean_payload(failure.payload, needs_value=bool(masking.paths))
    letter = describe_event(failure, payload)
    error_type, message, stacktrace = describe_error(failure)
    masked = masking.mask_text(message, payload)
    group = fingerprint(
        source=letter["source"],
        consumer=letter["consumer"],
        error_type=error_type,
        message=masked,
        stacktrace=stacktrace,
    )
    facts = Facts(letter["consumer"], letter["event_type"], error_type, masked, group.normal_message)
    # An exception of the application's own may have a category that is no word of ours, and not even text.
    verdict = classifier.classify(facts, clean_text(failure.category).lower())
    failed_at = clean_time(failure.failed_at)
    first_failed_at = min(clean_time(failure.first_failed_at or failed_at), failed_at)
    letter |= describe_verdict(verdict)
    letter |= {
        "status": "failed",
        "is_regression": failure.is_regression,
        "keeps_payload": failure.keeps_payload,
        "error_type": error_type,
        "summary": summarise(masked),
        "mask_key": masking.key,
        "attempts": max(1, min(failure.attempts, MOST_ATTEMPTS)),
        "first_failed_at": first_failed_at,
        "last_failed_at": failed_at,
        "error_message": message,
        "masked_message": None if masked == message else masked,
        # What was tried may be a replacement, and later nobody could tell which of its values to take out.
        "stacktrace": masking.mask_text(stacktrace, payload) if failure.keeps_payload else stacktrace,
        "words": split_words(f"{error_type} {masked[:MOST_SEARCHED]}"),
        "duration_ms": clean_number(failure.duration_ms, 32),
        "run_id": failure.run_id,
    }
    return Prepared(letter, {failed_at: Tried(letter, group)})


def prepare_parked(event: Parked) -> Prepared:
    letter = describe_event(event, clean_payload(event.payload))
    parked_at = clean_time(event.parked_at)
    nothing = dict.fromkeys(
        ("error_type", "summary", "category", "classified_by", "error_message", "stacktrace"), ""
    )
    letter |= nothing | {
        "status": "parked",
        "mask_key": get_masking().key,
        "is_security": False,
        "offers_replay": True,
        "tier": "dead_letter",
        "attempts": 0,
        "first_failed_at": parked_at,
        "last_failed_at": parked_at,
        "masked_message": None,
        "words": "",
    }
    return Prepared(letter, {})
