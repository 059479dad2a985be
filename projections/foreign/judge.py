"""What can be said of a worker that others run, and by which evidence."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboard.templatetags.console import duration
from projections.models import ForeignProjection
from sources.api import ForeignCheckpoint

State = ForeignProjection.State

# Retries and pauses between two batches are no trouble; the known libraries wait for up to a minute.
STALLED_AFTER = timedelta(seconds=60)


@dataclass(frozen=True)
class Verdict:
    """A state, and the evidence for it in a sentence."""

    state: State
    evidence: str


def judge(found: ForeignCheckpoint, *, moved_at: datetime | None, now: datetime) -> Verdict:
    """`moved_at` is when the checkpoint was last seen to move; None: never."""
    idle = now - moved_at if moved_at else None
    is_idle = idle is None or idle > STALLED_AFTER
    waits = describe_waiting(found, now)
    is_late = bool(waits) and is_idle and (found.waiting_since is None or now - found.waiting_since > STALLED_AFTER)
    still = f"its checkpoint has not moved for {duration(idle.total_seconds())}" if idle else "nobody saw its checkpoint move"
    if found.is_running:
        if is_late:
            return Verdict(State.STALLED, f"{found.evidence} But {still}, and {waits}.")
        return Verdict(State.RUNNING, found.evidence)
    if found.is_running is False and (is_late or found.is_steady):
        return Verdict(State.STOPPED, f"{found.evidence} {capitalise(waits or 'nothing waits')}.")
    if not is_idle and idle is not None:
        return Verdict(State.RUNNING, f"Its checkpoint moved {duration(idle.total_seconds())} ago.")
    if is_late:
        return Verdict(State.STALLED, f"{capitalise(waits)}, and {still}. {found.evidence}")
    return Verdict(State.UNKNOWN, f"{found.evidence} {capitalise(waits or describe_nothing(found))}.")


def describe_waiting(found: ForeignCheckpoint, now: datetime) -> str:
    """Empty: nothing waits, or nobody can tell."""
    if not found.lag:
        return ""
    verb = "event waits" if found.lag == 1 else "events wait"
    since = f" for {duration((now - found.waiting_since).total_seconds())}" if found.waiting_since else ""
    return f"{found.lag:,} {verb}{since}"


def describe_nothing(found: ForeignCheckpoint) -> str:
    return "nothing waits" if found.lag == 0 else found.lag_note.rstrip(".")


def capitalise(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
