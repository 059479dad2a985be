"""The overview's charts, each with a sentence that says what a person would see in it."""

from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from urllib.parse import urlencode

from django.utils import timezone

from dashboard.charts import Chart, Series, stack_columns
from dashboard.overview.figures import Figures, Range
from dashboard.words import agree, counted
from dlq.models.words import Category
from dlq.queries.overview import History, OpenFigures, Slots
from dlq.replay.outcomes import FAILED, SENT, SUCCEEDED
from dlq.sampling import ATTEMPT_BOUNDS

# From the bottom of a column to its top: what is steady first.
CATEGORIES = (
    Category.TRANSIENT,
    Category.DEPENDENCY,
    Category.INFRASTRUCTURE,
    Category.PERMANENT,
    Category.POISON,
)
SHOWN_ERROR_TYPES = 8
# Words under a chart, the last of which is "now".
MARKS = 5
DAY = timedelta(days=1)


def draw_failures(figures: Figures, wanted: Range) -> Chart:
    history, slots = figures.history, figures.slots
    nothing = [0] * slots.number
    series = [
        Series(name.label.lower(), name.value, history.failures.get(name, nothing)) for name in CATEGORIES
    ]
    sums = [sum(one.values[n] or 0 for one in series) for n in range(slots.number)]
    sentence = f"Nothing failed in the last {wanted.words}."
    if any(sums):
        total, peak = sum(sums), sums.index(max(sums))
        when, kinds = describe_slot(slots, peak), describe_kinds(series, peak)
        found = counted(total, "failed attempt")
        if sums[peak] == total:
            sentence = f"{found}, {'all ' if total > 1 else ''}{when}: {kinds}."
        else:
            sentence = f"{found}; the most {when}: {sums[peak]:,}, {kinds}."
    return draw(series, slots, sentence)


def describe_slot(slots: Slots, n: int) -> str:
    """A part within a sentence; the last one is not over."""
    if n == slots.number - 1:
        return f"since {name_start(slots, n)}"
    return f"from {name_times(slots)[n]} to {name_start(slots, n + 1)}"


def describe_kinds(series: list[Series], slot: int) -> str:
    counts = {one.label: one.values[slot] or 0 for one in series}
    worst, total = max(counts, key=lambda label: counts[label]), sum(counts.values())
    if counts[worst] == total:
        return worst
    return f"mostly {worst}" if 2 * counts[worst] > total else "of several categories"


def draw_depth(figures: Figures, wanted: Range) -> Chart:
    slots, now = figures.slots, figures.letters.number
    depths = [*figures.history.depths[:-1], now]
    known = [n for n, depth in enumerate(depths) if depth is not None]
    if len(known) == 1:
        sentence = f"{counted(now, 'letter')} open; how many there were before is unknown."
    else:
        then = depths[known[0]] or 0
        when = f"{wanted.words} ago" if known[0] == 0 else f"at {name_start(slots, known[0])}"
        change = (
            f"{abs(now - then):,} {'more' if now > then else 'fewer'} than" if now != then else "as many as"
        )
        sentence = f"{counted(now, 'letter')} open, {change} {when}."
    return draw([Series("open", "open", depths)], slots, sentence, gap=-0.05)


def draw_replays(figures: Figures, wanted: Range) -> Chart:
    done, failed, sent = count_replays(figures.history)
    series = [
        Series("succeeded", "good", done),
        Series("sent and not confirmed", "info", sent),
        Series("failed again", "bad", failed),
    ]
    told, unsure = [], sum(sent)
    if tried := sum(done) + sum(failed):
        told.append(f"{sum(done):,} of {tried:,} replayed letters succeeded.")
    if unsure:
        some = f"{unsure:,} more" if tried else counted(unsure, "letter")
        is_sent, them = agree(unsure, "is sent", "are sent"), agree(unsure, "it", "them")
        told.append(f"{some} {is_sent}, and nobody has said what became of {them}.")
    sentence = " ".join(told) or f"No letter was replayed in the last {wanted.words}."
    return draw(series, figures.slots, sentence)


def count_replays(history: History) -> tuple[list[int], list[int], list[int]]:
    """Letters whose replay succeeded, failed, and was sent without an answer, for each part of the range."""
    nothing = [0] * len(history.depths)
    same, new = (history.replays.get(name, nothing) for name in FAILED)
    failed = [a + b for a, b in zip(same, new, strict=True)]
    return history.replays.get(SUCCEEDED.name, nothing), failed, history.replays.get(SENT.name, nothing)


def find_success_percent(history: History) -> float | None:
    """None: of nothing it is known what became of it. Cut and not rounded: one failure in a thousand is not 100 %."""
    done, failed, _ = count_replays(history)
    tried = sum(done) + sum(failed)
    return 1000 * sum(done) // tried / 10 if tried else None


@dataclass(frozen=True)
class Share:
    """One bar of a distribution; `query` finds its letters, `width` is in hundredths of the largest."""

    label: str
    tone: str
    number: int
    query: str
    width: str


def share_error_types(letters: OpenFigures) -> list[Share]:
    shown = list(letters.by_error_type.items())[:SHOWN_ERROR_TYPES]
    most = max(letters.by_error_type.values(), default=1)
    return [
        Share(
            name or "no type",
            letters.category_of[name],
            number,
            urlencode({"error_type": name}),
            width(number, most),
        )
        for name, number in shown
    ]


def share_attempts(letters: OpenFigures) -> list[Share]:
    """By the number of attempts; letters whose source does not say have a bar only if there are any."""
    largest = max(letters.by_attempts.values(), default=1)
    shares = []
    for bound, following in zip(ATTEMPT_BOUNDS, [*ATTEMPT_BOUNDS[1:], None], strict=True):
        number = letters.by_attempts.get(bound, 0)
        if bound == 0 and not number:
            continue
        most = {"most_attempts": following - 1} if following else {}
        query = urlencode({"attempts": bound} | most) if bound else ""
        shares.append(Share(name_bound(bound, following), "open", number, query, width(number, largest)))
    return shares


def name_bound(bound: int, following: int | None) -> str:
    if bound == 0:
        return "not said"
    if following is None:
        return f"{bound} or more"
    return f"{bound}" if following == bound + 1 else f"{bound} to {following - 1}"


def width(number: int, most: int) -> str:
    return f"{100 * number / most:.1f}"


def draw(series: list[Series], slots: Slots, sentence: str, gap: float = 0.2) -> Chart:
    words = [f"{name_slot(slots, n)}: {name_values(series, n)}" for n in range(slots.number)]
    marks = [name_times(slots)[slots.number * n // (MARKS - 1)] for n in range(MARKS - 1)]
    return stack_columns(series, words, [*marks, "now"], sentence, gap=gap)


def name_values(series: list[Series], n: int) -> str:
    found = [(one.label, one.values[n]) for one in series]
    if any(value is None for _, value in found):
        return "unknown"
    return ", ".join(f"{value:,} {label}" for label, value in found if value) or "none"


def name_slot(slots: Slots, n: int) -> str:
    return f"{name_times(slots)[n]} to {name_times(slots)[n + 1]}"


@lru_cache(maxsize=8)
def name_times(slots: Slots) -> list[str]:
    """The times of day at which the parts begin; with the day where the range has several."""
    form = "%H:%M" if slots.span <= DAY else "%a %H:%M"
    return [timezone.localtime(time).strftime(form) for time in slots.times]


def name_start(slots: Slots, n: int) -> str:
    """With the zone, which a sentence has once."""
    return f"{name_times(slots)[n]} {timezone.localtime(slots.times[n]):%Z}"
