"""The overview's figures: of each its number, what it means, and the page that has its rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.text import Truncator

from breakers.queries import OpenOnes
from breakers.rows import Row
from dashboard.models import Run
from dashboard.overview.charts import count_replays, find_success_percent
from dashboard.overview.figures import Breakers, Figures
from dashboard.runs.queries import name_count
from dashboard.words import agree, clock, counted, duration
from dlq.queries.overview import History, Oldest, OpenFigures, Recent
from projections.lines import Line, Lines

HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Tile:
    """`url` is empty where there are no rows to show; `of` is what the number is a part of."""

    title: str
    number: str
    text: str = ""
    url: str = ""
    of: str = ""


def list_tiles(figures: Figures, runs: list[Run], active_count: int, words: str) -> Iterator[Tile]:
    """All but the first one, of open letters, which has a list of categories in it."""
    yield tell_recent(figures.recent)
    yield tell_oldest(figures.letters.oldest)
    yield tell_poison(figures.letters)
    yield tell_projections(figures.projections)
    yield tell_breakers(figures.breakers)
    yield tell_runs(runs, active_count)
    yield tell_replays(figures.history, words)


def tell_recent(recent: Recent) -> Tile:
    hour_ago = (timezone.now() - HOUR).isoformat(timespec="minutes")
    return Tile(
        "Failures in the last hour",
        f"{recent.hour_count:,}",
        f"{recent.day_count:,} in 24 hours",
        link("dlq:letters", status="any", since=hour_ago),
    )


def tell_oldest(oldest: Oldest | None) -> Tile:
    title = "Oldest open letter"
    if oldest is None:
        return Tile(title, "none")
    text = f"{shorten(oldest.error_type, 32)}, {shorten(oldest.consumer, 24)}"
    return Tile(title, duration(oldest.waited_seconds), text, reverse("dlq:letter", args=[oldest.letter_id]))


def tell_poison(letters: OpenFigures) -> Tile:
    text = "replayed only if somebody insists" if letters.poison_count else "no letter is set apart"
    return Tile("Poison", f"{letters.poison_count:,}", text, link("dlq:letters", tier="poison"))


def tell_projections(lines: Lines) -> Tile:
    title, url = "Projections behind", reverse("projections:projections")
    if lines.all and len(lines.unsure) == len(lines.all):
        return Tile(title, "unknown", say_projections(lines), url)
    of = f"of {len(lines.all)}" if lines.all else ""
    return Tile(title, str(len(lines.behind)), say_projections(lines), url, of)


def say_projections(lines: Lines) -> str:
    needing, unsure, uneasy = len(lines.needing), len(lines.unsure), len(lines.uneasy)
    told = [f"{needing} {agree(needing, 'needs', 'need')} you"] if needing else []
    if lines.behind:
        told.append(say_behind(lines.behind[0]))
        return "; ".join([*told, f"{unsure} more may be"] if unsure else told)
    if told:
        return told[0]
    if unsure:
        return f"{unsure} may be"
    if uneasy:
        return f"{uneasy} {agree(uneasy, 'is', 'are')} worth a look"
    return "all are up to date" if lines.all else "none is declared yet"


def say_behind(line: Line) -> str:
    """The one that is behind for the longest time."""
    if line.lag:
        how = f"{line.bound} {counted(line.lag, 'event')}".strip()
    else:
        how = f"{counted(line.waiting_count, 'waits', 'wait')} for a breaker"
    since = "" if line.delay_seconds is None else f", {duration(line.delay_seconds)}"
    return f"{shorten(line.name, 24)}: {how}{since}"


def tell_breakers(breakers: Breakers) -> Tile:
    found = breakers.found
    title, url = "Breakers not closed", link("breakers:breakers", state="open")
    if found.known_count or not (found.error or found.unread):
        return Tile(title, f"{found.known_count:,}", say_breakers(found, breakers.rows), url)
    if not found.error:
        known = "none that can be read is open" if found.total_count else "none can be read"
        return Tile(title, "unknown", known, url)
    since = f"; last read at {clock(found.unknown_since)}" if found.unknown_since else ""
    return Tile(title, "unknown", f"Redis does not answer{since}", url)


def say_breakers(found: OpenOnes, rows: list[Row]) -> str:
    if found.error or found.unread:
        return "others are unknown"
    if rows:
        return f"{shorten(rows[0].breaker.name, 24)}: {rows[0].next_step}"
    return "every call goes through" if found.total_count else "none is known"


def tell_runs(runs: list[Run], active_count: int) -> Tile:
    text = "nothing is asked for"
    if runs:
        state = "" if runs[0].state == Run.State.RUNNING else f"{runs[0].get_state_display().lower()}: "
        text = f"{state}{shorten(runs[0].title, 40)}"
        if others := len(runs) - 1:
            text += agree(others, " and another", " and others")
    return Tile("Runs not ended", name_count(active_count), text, link("runs:runs", state="active"))


def tell_replays(history: History, words: str) -> Tile:
    title, url = "Replays that succeed", reverse("runs:runs")
    percent = find_success_percent(history)
    if percent is not None:
        return Tile(title, f"{percent:g} %", f"in {words}", url)
    sent = sum(count_replays(history)[2])
    what = f"{sent:,} sent and not confirmed" if sent else "nothing was replayed"
    return Tile(title, "–", f"{what} in {words}", url)


def link(name: str, **query: Any) -> str:
    return f"{reverse(name)}?{urlencode(query)}"


def shorten(text: str, most: int) -> str:
    return Truncator(text).chars(most)
