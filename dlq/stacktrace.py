"""A stack trace for reading: the application's own frames stand out, the others step back."""

from dataclasses import dataclass

from django.conf import settings

from dlq.fingerprints import FOREIGN_PATH, FRAME

# A page shows the end of a longer trace: the error that counts is there.
MOST_LINES = 400
# The console's code calls the handlers that fail, and is not what whoever wrote them looks for.
CONSOLE = tuple(
    f"{settings.BASE_DIR}/{name}/" for name in ("breakers", "dashboard", "dlq", "projections", "sources")
)


@dataclass(frozen=True)
class Line:
    """A line and its kind, `own`, `foreign` or `outside`; the line of code belongs to the frame above it."""

    text: str
    kind: str


def read_lines(stacktrace: str) -> list[Line]:
    lines, kind = [], "outside"
    for text in stacktrace.rstrip().splitlines()[-MOST_LINES:]:
        if match := FRAME.match(text):
            is_foreign = FOREIGN_PATH.search(match[1]) or match[1].startswith(CONSOLE)
            kind = "foreign" if is_foreign else "own"
        elif not text.startswith("    "):
            kind = "outside"
        lines.append(Line(text, kind))
    return lines
