"""Numbers, durations, times and errors in the words that sentences and pages use for them."""

from datetime import datetime

from django.db import DatabaseError
from django.utils import timezone

UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def counted(number: int, one: str, many: str = "") -> str:
    """ "1 letter" or "1,204 letters"; `many` is needed where it is more than an s: `"event waits", "events wait"`."""
    return f"{number:,} {agree(number, one, many)}"


def agree(number: int, one: str, many: str = "") -> str:
    """The words alone: `agree(number, "it", "them")`."""
    return one if number == 1 else many or f"{one}s"


def duration(seconds: float | None) -> str:
    """In at most two units: "43 s", "6 min", "3 d 4 h"; a dash when it is not known."""
    if seconds is None:
        return "–"
    left = int(seconds)
    parts: list[str] = []
    for size, unit in UNITS:
        if left >= size or (unit == "s" and not parts):
            parts.append(f"{left // size} {unit}")
            left %= size
        if len(parts) == 2 or (parts and unit == "min"):
            break
    return " ".join(parts)


def say_ago(value: datetime) -> str:
    seconds = (timezone.now() - value).total_seconds()
    return "just now" if seconds < 2 else f"{duration(seconds)} ago"


def clock(value: datetime) -> str:
    """The time of day with its zone, for something of today; with the date if it is not."""
    local = timezone.localtime(value)
    return local.strftime("%H:%M %Z" if local.date() == timezone.localdate() else "%Y-%m-%d %H:%M %Z")


def absolute(value: datetime) -> str:
    """A time in full, with its zone."""
    # Nobody has a zone of their own: asking for it costs more than the rest.
    return f"{value.astimezone(timezone.get_default_timezone()):%Y-%m-%d %H:%M:%S %Z}"


def clause(words: str) -> str:
    """What somebody wrote, without the full stop at its end, to stand within a sentence of ours."""
    return words.rstrip().rstrip(".")


def say_error(error: BaseException) -> str:
    """For a record that everybody may read: below its first line Postgres repeats what it was given."""
    said = str(error)
    said = said.partition("\n")[0] if isinstance(error, DatabaseError) else said
    return f"{type(error).__name__}: {said}"[:1000]
