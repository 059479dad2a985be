"""How a source is, in a word and a sentence, from what the last looks left behind."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboard.models import Run
from dashboard.words import clock, duration
from sources.models import SourceState
from sources.sync.hold import LEASE_SECONDS

# Looks come every few seconds; after so long without one that came to its end, somebody should know.
SILENT_AFTER = timedelta(seconds=30)


@dataclass(frozen=True)
class Health:
    word: str
    # The word as a sentence goes on after the source's name.
    says: str
    tone: str
    sentence: str
    # Nothing comes from it: every page says so.
    is_away: bool = False

    @property
    def needs_somebody(self) -> bool:
        return self.tone == "bad"


def judge(state: SourceState | None, every_seconds: float, importing: Run | None, now: datetime) -> Health:
    if state is None:
        return Health(
            "new",
            "has not been looked at yet",
            "warn",
            "The first look comes within seconds, once a worker takes from queue “sources”.",
        )
    late = max(SILENT_AFTER, timedelta(seconds=3 * every_seconds))
    is_late = is_overdue(state, late, now)
    # Whoever has the lease looks right now, though it may take long, or hang.
    is_looked_at = state.leased_until is not None and state.leased_until > now
    if is_late and not is_looked_at:
        since = f" {describe_since(state.synced_at, now)}" if state.synced_at else " yet"
        last = f" The last try failed: {end(state.error)}" if state.error else ""
        return Health(
            "not looked at",
            "is not looked at",
            "bad",
            f"Nobody has looked at it{since}: no worker takes from queue “sources”, or beat is away.{last}",
        )
    if state.error:
        return judge_error(state, now)
    if importing:
        return judge_import(importing)
    if is_late:
        return judge_long_look(state, now)
    if state.cursor.get("is_behind"):
        return Health(
            "behind", "is behind", "warn", "It has rows that have not been read yet; the next look goes on."
        )
    return Health("up to date", "is up to date", "good", f"Looked at every {every_seconds:g} s.")


def is_overdue(state: SourceState, late: timedelta, now: datetime) -> bool:
    """Whether no look came to its end, though it is time; after a failure the next look is due when it says."""
    due_at = max((at for at in (state.next_at, state.synced_at) if at), default=None)
    return due_at is None or now - due_at > late


def judge_import(importing: Run) -> Health:
    """Of a first import that is under way, or ended before its time."""
    if not importing.is_active:
        ended = "failed" if importing.state == Run.State.FAILED else "was cancelled"
        return Health(
            "not complete",
            "is not complete",
            "bad",
            f"Its first import {ended}: rows from before are missing.",
        )
    if importing.state == Run.State.PAUSED:
        return Health(
            "import paused",
            "is not complete yet",
            "warn",
            "Its first import is paused; only new rows come in.",
        )
    return Health(
        "importing",
        "is being imported",
        "info",
        "Its rows are read for the first time; new ones come in meanwhile.",
    )


def judge_long_look(state: SourceState, now: datetime) -> Health:
    if state.synced_at is None:
        return Health(
            "first look",
            "is looked at for the first time",
            "info",
            "A worker is at it; the more rows it has, the longer that takes.",
        )
    # None may take so long, see tasks.py: whoever began one has died.
    tone = "bad" if now - state.synced_at > SILENT_AFTER + timedelta(seconds=LEASE_SECONDS) else "warn"
    sentence = f"No look came to its end {describe_since(state.synced_at, now)}; a worker is at one."
    return Health("long look", "is being looked at", tone, sentence)


def judge_error(state: SourceState, now: datetime) -> Health:
    since = state.failing_since or now
    then = "somebody must act." if state.is_permanent else "it is tried again by itself."
    sentence = f"{end(state.error)} Failing {describe_since(since, now)}; {then}"
    tone = "bad" if state.is_permanent or now - since > SILENT_AFTER else "warn"
    if not state.error_count:
        # The look itself came to its end: it was only what is owed that could not be written.
        return Health("writes fail", "does not take what is written", tone, sentence)
    if state.is_permanent:
        return Health("cannot be read", "cannot be read", tone, sentence, is_away=True)
    return Health("no answer", "does not answer", tone, sentence, is_away=True)


def describe_since(since: datetime, now: datetime) -> str:
    seconds = (now - since).total_seconds()
    lasted = f"for {duration(seconds)}, " if seconds >= 1 else ""
    return f"{lasted}since {clock(since)}"


def end(sentence: str) -> str:
    # What ends in a semicolon ends in a statement to be copied.
    return sentence if sentence.endswith((".", "!", "?", ";")) else f"{sentence}."
