"""Why a projection is where it is, in one sentence; the first that applies."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.utils import timezone

from dashboard.models import Run
from dashboard.templatetags.console import duration
from projections.definition import find_projector
from projections.lag import Measures
from projections.models import Projection

State, Block = Projection.State, Projection.Block
# A lag that changes by less than this a second stays as it is.
STEADY = 0.05


@dataclass(frozen=True)
class Reason:
    """A word for the badge, the colour's meaning, and the sentence."""

    word: str
    tone: str
    sentence: str


class Waits(NamedTuple):
    """A breaker, how many events wait for it, and when the oldest was recorded; None: the store has it no longer."""

    breaker: str
    number: int
    oldest_at: datetime | None

    @property
    def delay_seconds(self) -> float | None:
        if self.oldest_at is None:
            return None
        return max((timezone.now() - self.oldest_at).total_seconds(), 0.0)


def explain(
    row: Projection,
    measures: Measures,
    *,
    is_consumed: bool,
    run: Run | None,
    waits: Waits | None,
) -> Reason:
    """`waits` is about events before the checkpoint that wait for a breaker; None: none does."""
    lag = measures.lag.events
    if row.state == State.STOPPED:
        return Reason(
            "Stopped", "bad", f"Stopped on the event at {row.position + 1:,}: {describe_error(row)}"
        )
    if row.state == State.REBUILDING:
        return Reason("Rebuilding", "info", f"Being rebuilt by run {run.pk}." if run else "Being rebuilt.")
    if row.state == State.PAUSED:
        return Reason("Paused", "warn", "Paused; it keeps its place until somebody resumes it.")
    if not is_consumed and (lag or row.block):
        if find_projector(row.name) is None:
            why = "No installed app declares it: name its app in REDRIVE_APPS and start manage.py consume."
        else:
            why = "No process consumes it: start manage.py consume."
        return Reason("Nobody consumes", "bad", why)
    if row.block:
        return explain_block(row)
    if waits:
        events = "1 event waits" if waits.number == 1 else f"{waits.number:,} events wait"
        sentence = f"{events} for breaker {waits.breaker}; the other streams go on."
        return Reason("Waiting", "warn", sentence)
    if missing := row.accounting.get("missing"):
        return explain_missing(missing)
    if not lag:
        return Reason("Up to date", "good", "It has come past every event of its types.")
    if not measures.lag.is_behind:
        return Reason(
            "Up to date", "good", "It has come past every event of its types but those of this moment."
        )
    return explain_lag(measures)


def explain_missing(number: int) -> Reason:
    events = "1 event is" if number == 1 else f"{number:,} events are"
    return Reason("Unaccounted", "bad", f"{events} neither done nor on record anywhere.")


def explain_block(row: Projection) -> Reason:
    held = (timezone.now() - (row.blocked_since or timezone.now())).total_seconds()
    since = f"for {duration(held)}"
    if row.block == Block.RETRY:
        # Retries that its policy allows are no trouble yet (D17).
        tone = "info" if held <= row.grace_seconds else "warn"
        tries = f"{row.attempt} failed tr{'y' if row.attempt == 1 else 'ies'}"
        sentence = f"Retrying the event at {row.position + 1:,} {since}, {tries}: {describe_error(row)}"
        return Reason("Retrying", tone, sentence)
    if row.block == Block.BREAKER:
        return Reason("Waiting", "warn", f"Waiting {since}: {row.error_message}")
    why = f"Blocked {since} by infrastructure, and trying again: {describe_error(row)}"
    return Reason("Blocked", "bad", why)


def explain_lag(measures: Measures) -> Reason:
    gain = measures.rates.gain
    if gain is None:
        return Reason("Behind", "info", "Behind, and at work; its pace is not known yet.")
    if gain < -STEADY:
        sentence = f"Slower than arrival by {-gain:,.1f} a second: more come than it handles."
        return Reason("Falling behind", "warn", sentence)
    left = measures.seconds_left
    if left is None or gain <= STEADY:
        return Reason("Behind", "info", "Behind, and at work: as many come as it handles.")
    return Reason("Catching up", "info", f"Catching up; about {duration(left)} left at this pace.")


def describe_error(row: Projection) -> str:
    first_line = row.error_message.strip().partition("\n")[0][:200]
    return f"{row.error_type}: {first_line}" if first_line else row.error_type
