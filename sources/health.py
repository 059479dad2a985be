"""How a source is, in a word and a sentence, from what the last looks left behind."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboard.models import Run
from dashboard.templatetags.console import duration
from sources.models import SourceState

# Looks come every few seconds; after so long without one that came to its end, somebody should know.
SILENT_AFTER = timedelta(seconds=30)


@dataclass(frozen=True)
class Health:
    word: str
    # The word as a sentence goes on after the source's name.
    says: str
    tone: str
    sentence: str

    @property
    def needs_somebody(self) -> bool:
        return self.tone == "bad"


def judge(state: SourceState | None, every_seconds: float, importing: Run | None, now: datetime) -> Health:
    if state is None:
        return Health(
            "new",
            "was not looked at yet",
            "warn",
            "The first look comes within seconds.",
        )
    if state.error:
        return judge_error(state, now)
    late = max(SILENT_AFTER, timedelta(seconds=3 * every_seconds))
    if state.synced_at is None or now - state.synced_at > late:
        since = f" for {duration((now - state.synced_at).total_seconds())}" if state.synced_at else " yet"
        return Health(
            "not looked at",
            "is not looked at",
            "bad",
            f"Nobody has looked at it{since}: no worker takes the queue sources, or beat is away.",
        )
    if importing and not importing.is_active:
        ended = importing.get_state_display().lower()
        return Health(
            "not complete",
            "is not complete",
            "bad",
            f"Its first import {ended}: rows from before are missing.",
        )
    if importing:
        return Health(
            "importing",
            "is being imported",
            "info",
            "Its rows are read for the first time; new ones come beside.",
        )
    return Health("up to date", "is up to date", "good", f"Looked at every {every_seconds:g} s.")


def judge_error(state: SourceState, now: datetime) -> Health:
    since = now - (state.failing_since or now)
    then = "Somebody must act." if state.is_permanent else "It is tried again by itself."
    sentence = f"For {duration(since.total_seconds())}: {end(state.error)} {then}"
    if state.synced_at and state.failing_since and state.synced_at >= state.failing_since:
        # The look itself came to its end: it was only what is owed that could not be written.
        return Health("writes fail", "does not take what is written", "bad", sentence)
    if state.is_permanent:
        return Health("refuses", "cannot be read", "bad", sentence)
    return Health("no answer", "does not answer", "bad" if since > SILENT_AFTER else "warn", sentence)


def end(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
