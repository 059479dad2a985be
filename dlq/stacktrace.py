"""A stack trace for reading: the application's own frames stand out, the others step back."""

from dataclasses import dataclass

from dlq.fingerprints import FOREIGN_PATH, FRAME

# A page shows the end of a longer trace: the error that counts is there.
MOST_LINES = 400


@dataclass(frozen=True)
class Line:
    """A line and its kind, `own`, `foreign` or `outside`; the line of code belongs to the frame above it."""

    text: str
    kind: str


def read_lines(stacktrace: str) -> list[Line]:
    lines, kind = [], "outside"
    for text in stacktrace.rstrip().splitlines()[-MOST_LINES:]:
        if match := FRAME.match(text):
            kind = "foreign" if FOREIGN_PATH.search(match[1]) else "own"
        elif not text.startswith("    "):
            kind = "outside"
        lines.append(Line(text, kind))
    return lines
