import json
from functools import cached_property
from typing import Any

from dashboard.access import may
from dlq.cleaning import Payload, clean_payload, summarise
from dlq.json_paths import Path
from dlq.masking.rules import HIDDEN, get_masking
from dlq.models import DeadLetter, FailureGroup


class Masker:
    """What one user gets to see: the accessor for list, detail, diff, export and API."""

    def __init__(self, user: Any) -> None:
        self.masking = get_masking()
        self.is_unmasked = not self.masking.paths or may(user, "payload.unmask")

    def may_filter(self, path: Path) -> bool:
        return self.is_unmasked or not self.masking.covers(path)

    def summary(self, letter: DeadLetter) -> str:
        return letter.summary if self.trusts(letter) or not letter.summary else HIDDEN

    def headline(self, letter: DeadLetter) -> str:
        """What a list says of it; empty: it has not failed."""
        return name_error(letter.error_type, self.summary(letter))

    def title(self, group: FailureGroup) -> str:
        return group.title if self.trusts(group) else name_error(group.error_type, HIDDEN)

    def heading(self, group: FailureGroup, example: DeadLetter | None) -> str:
        """What a person reads first: the newest letter's own words, or the title where there are none."""
        if example is None or not example.summary or not self.trusts(example):
            return self.title(group)
        return self.headline(example)

    def trusts(self, record: DeadLetter | FailureGroup) -> bool:
        """Whether its stored texts were made under today's rules."""
        return self.is_unmasked or record.mask_key == self.masking.key

    def letter(self, letter: DeadLetter, stored: Payload | None = None) -> "MaskedLetter":
        """`stored` is its payload where the letter has no copy of it."""
        return MaskedLetter(letter, self, stored)


class MaskedLetter:
    """A letter's body as the masker's user may see it; costs the body's row, so it is for one letter at a time."""

    def __init__(self, letter: DeadLetter, masker: Masker, stored: Payload | None) -> None:
        self.letter = letter
        self.masker = masker
        self.body = letter.body
        self.stored = stored

    @cached_property
    def original(self) -> Payload:
        body = self.body
        if self.stored is not None:
            return self.stored
        if body.payload_raw is not None:
            return clean_payload(bytes(body.payload_raw))
        return Payload(None, None, body.payload_size, body.payload)

    @cached_property
    def payload(self) -> Any:
        """The parsed document, masked as need be; None: there is none, or it is not JSON (see `payload_text`)."""
        document = self.original.value
        return document if self.masker.is_unmasked else self.masker.masking.mask_document(document)

    @cached_property
    def payload_text(self) -> str:
        """The payload as text for the page, a download or a diff; what is not JSON is hidden from most."""
        if self.masker.is_unmasked and self.original.raw is not None:
            return self.original.raw.decode(errors="backslashreplace")
        if self.original.size == 0:
            return ""
        if not self.original.is_readable:
            return HIDDEN
        return json.dumps(self.payload, ensure_ascii=False, indent=2)

    @property
    def payload_size(self) -> int | None:
        """None: not told, as the length would tell masked values apart."""
        return self.body.payload_size if self.masker.is_unmasked else None

    @property
    def summary(self) -> str:
        """What went wrong in a line; where the stored one is not for these eyes, the message's first, masked."""
        if self.masker.trusts(self.letter):
            return self.letter.summary
        return summarise(self.error_message)

    @property
    def headline(self) -> str:
        return name_error(self.letter.error_type, self.summary)

    @property
    def error_message(self) -> str:
        if self.masker.is_unmasked or not self.masker.trusts(self.letter):
            return self.text(self.body.error_message)
        masked = self.body.masked_message
        return self.body.error_message if masked is None else masked

    @property
    def stacktrace(self) -> str:
        return self.text(self.body.stacktrace)

    @property
    def headers(self) -> dict[str, str]:
        return {name: self.text(value) for name, value in self.body.headers.items()}

    def text(self, text: str) -> str:
        """Any text that came with this letter, such as an attempt's error."""
        if self.masker.is_unmasked or not text:
            return text
        # Without its payload nobody can say which words of a text are masked.
        is_unknown = self.original.size == 0 and not self.masker.trusts(self.letter)
        if is_unknown or self.letter.erased_at:
            return HIDDEN
        return self.masker.masking.mask_text(text, self.original)


def name_error(error_type: str, summary: str) -> str:
    """Both in a line; the type alone where nothing is said, as of what was erased."""
    if summary == HIDDEN:
        return f"{error_type} ({HIDDEN})"
    return f"{error_type}: {summary}" if summary not in ("", error_type) else error_type
