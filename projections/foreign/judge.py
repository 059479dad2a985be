"""What can be said of a worker that others run, and by which evidence."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboard.words import duration
from projections.models import ForeignProjection
from sources.api import Bound, ForeignCheckpoint

State = ForeignProjection.State

# Retries and pauses between batches are no trouble; the known libraries wait for up to a minute.
STALLED_AFTER = timedelta(seconds=60)


@dataclass(frozen=True)
class Verdict:
    """A state, and the evidence for it in a sentence or two."""

    state: State
    evidence: str


def judge(found: ForeignCheckpoint, *, moved_at: datetime | None, now: datetime) -> Verdict:
    """`moved_at` is when the checkpoint was last seen to move; None: never."""
    idle = now - moved_at if moved_at else None
    is_resting = idle is None or idle > STALLED_AFTER
    waits = describe_waiting(found, now)
    # Events of types that it does not handle may wait for ever: a number that may be zero proves nothing.
    is_late = bool(found.lag) and found.lag_bound != Bound.AT_MOST and is_resting and has_waited(found, now)
    rests = f"has not moved for {duration(idle.total_seconds())}" if idle else "was never seen to move"
    worker = found.worker
    if worker.is_running and is_late:
        return Verdict(State.STALLED, f"{worker.sentence} But its checkpoint {rests}: {waits}.")
    if worker.is_running:
        return Verdict(State.RUNNING, f"{worker.sentence} {capitalise(waits)}.")
    if worker.is_running is False and (is_late or worker.is_steady):
        return Verdict(State.STOPPED, f"{worker.sentence} {capitalise(waits)}.")
    if not is_resting:
        return Verdict(State.RUNNING, f"Its checkpoint moved not long ago. {capitalise(waits)}.")
    if is_late:
        return Verdict(State.STALLED, f"Its checkpoint {rests}: {waits}. {worker.sentence}")
    return Verdict(State.UNKNOWN, f"{capitalise(waits)}. {worker.sentence}")


def has_waited(found: ForeignCheckpoint, now: datetime) -> bool:
    return found.waiting_since is None or now - found.waiting_since > STALLED_AFTER


def describe_waiting(found: ForeignCheckpoint, now: datetime) -> str:
    if found.lag is None:
        return "how many events wait is not known"
    if not found.lag:
        return "nothing waits"
    number = f"{Bound(found.lag_bound).name.replace('_', ' ').lower()} " if found.lag_bound else ""
    verb = "event waits" if found.lag == 1 else "events wait"
    since = (
        f", {'' if found.lag == 1 else 'the first '}for {duration((now - found.waiting_since).total_seconds())}"
        if found.waiting_since
        else ""
    )
    return f"{number}{found.lag:,} {verb}{since}"


def capitalise(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
