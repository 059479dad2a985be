"""Why a projection is where it is, in one sentence, the first that applies; and whether it needs a person."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from django.utils import timezone

from dashboard.models import Run
from dashboard.words import agree, clause, counted, duration, say_ago
from projections.definition import find_projector
from projections.lag import Lag, Measures
from projections.models import Projection

State, Block = Projection.State, Projection.Block
# A lag that changes by less than this a second stays as it is.
STEADY = 0.05
SEVERITY = {"bad": 0, "warn": 1, "info": 2, "mute": 3, "good": 4}


@dataclass(frozen=True)
class Reason:
    """A word for the badge, the colour's meaning, and the sentence; `needs_you`: it is among what needs a person."""

    word: str
    tone: str
    sentence: str
    needs_you: bool = False

    @property
    def rank(self) -> tuple[bool, int]:
        """To sort by: what needs somebody first."""
        return not self.needs_you, SEVERITY[self.tone]


class Waits(NamedTuple):
    """A breaker, how many events wait for it, and when the oldest was recorded; None: the store has it no longer."""

    breaker: str
    number: int
    oldest_at: datetime | None
    # That one, and others for which some of them wait.
    breaker_count: int = 1

    @property
    def delay_seconds(self) -> float | None:
        if self.oldest_at is None:
            return None
        return max((timezone.now() - self.oldest_at).total_seconds(), 0.0)


def needs_somebody(row: Projection, lag: Lag, *, is_consumed: bool) -> bool:
    """The one rule by which pages count those that need you, and by which they are listed among what does."""
    if row.state == State.STOPPED or row.accounting.get("missing"):
        return True
    is_worked_on = row.state == State.REBUILDING
    return not is_worked_on and (is_left_alone(row, lag, is_consumed) or lag.is_too_far(row.grace_seconds))


def is_left_alone(row: Projection, lag: Lag, is_consumed: bool) -> bool:
    """Whether it should go on, and nobody consumes what has waited for more than a moment."""
    return row.state == State.RUNNING and not is_consumed and lag.is_behind


def explain(
    row: Projection,
    measures: Measures,
    *,
    is_consumed: bool,
    run: Run | None = None,
    waits: Waits | None = None,
    letters: dict[str, int] | None = None,
) -> Reason:
    """`waits` is about events before the checkpoint that wait for a breaker; None: none does."""
    needs_you = needs_somebody(row, measures.lag, is_consumed=is_consumed)
    reason = find_reason(row, measures, is_consumed, run, waits) or explain_lag(measures, letters or {})
    if not needs_you:
        return reason
    return replace(reason, tone="bad" if reason.tone == "bad" else "warn", needs_you=True)


def find_reason(
    row: Projection, measures: Measures, is_consumed: bool, run: Run | None, waits: Waits | None
) -> Reason | None:
    """None: it goes on, and has a lag or none."""
    if row.state == State.STOPPED:
        return explain_stop(row)
    if row.state == State.RUNNING and not is_consumed and (measures.lag.events or row.block):
        tone = "bad" if measures.lag.is_behind else "warn"
        return Reason("Nobody consumes", tone, explain_left_alone(row))
    if missing := row.accounting.get("missing"):
        return explain_missing(missing)
    if row.state == State.REBUILDING:
        return Reason("Rebuilding", "info", f"Being rebuilt by run {run.pk}." if run else "Being rebuilt.")
    if row.state == State.PAUSED:
        return Reason("Paused", "warn", "Paused; it keeps its place until somebody resumes it.")
    if row.block:
        return explain_block(row, measures.lag)
    if waits:
        events = counted(waits.number, "event waits", "events wait")
        others = waits.breaker_count - 1
        more = f" and {counted(others, 'other')}" if others > 0 else ""
        sentence = f"{events} for breaker {waits.breaker}{more}; the other streams go on."
        return Reason("Waiting", "warn", sentence)
    return None


def explain_stop(row: Projection) -> Reason:
    since, error = say_ago(row.state_since), clause(describe_error(row))
    return Reason("Stopped", "bad", f"Stopped {since} on the event at {row.position + 1:,}: {error}.")


def explain_left_alone(row: Projection) -> str:
    """True of one and of many, since they are told of together."""
    if find_projector(row.name) is None:
        return (
            "No installed app has a handler for what waits: name the app in REDRIVE_APPS, and start "
            "python3 manage.py consume."
        )
    return "No process handles what waits: start python3 manage.py consume."


def explain_missing(number: int) -> Reason:
    events = counted(number, "event is", "events are")
    return Reason("Missing events", "bad", f"{events} neither done nor on record anywhere.")


def explain_block(row: Projection, lag: Lag) -> Reason:
    held = (timezone.now() - (row.blocked_since or timezone.now())).total_seconds()
    since, error = f"for {duration(held)}", clause(describe_error(row))
    if row.block == Block.RETRY:
        # Retries that its policy allows are no trouble yet (D17).
        tone = "info" if held <= row.grace_seconds else "warn"
        attempts = counted(row.attempt, "failed attempt")
        sentence = f"Retrying the event at {row.position + 1:,} {since}, {attempts}: {error}."
        return Reason("Retrying", tone, sentence)
    if row.block == Block.BREAKER:
        return Reason("Waiting", "warn", f"Waiting {since}: {clause(row.error_message)}.")
    tone = "bad" if lag.is_too_far(row.grace_seconds) else "warn"
    return Reason("Blocked", tone, f"Blocked {since} by infrastructure, and trying again: {error}.")


def explain_lag(measures: Measures, letters: dict[str, int]) -> Reason:
    lag, gain, left = measures.lag, measures.rates.gain, measures.seconds_left
    if not lag.is_behind:
        but = " but those of this moment" if lag.events else ""
        past = f"It has come past every event of its types{but}"
        return Reason("Up to date", "good", f"{past}{name_unhandled(letters)}.")
    if gain is None:
        return Reason("Behind", "info", "At work; its pace is not known yet.")
    if gain < -STEADY:
        sentence = f"Slower than arrival by {-gain:,.1f} a second: more come than it handles."
        return Reason("Falling behind", "warn", sentence)
    if left is None or gain <= STEADY:
        return Reason("Behind", "info", "At work: as many come as it handles.")
    return Reason("Catching up", "info", f"Catching up; about {duration(left)} left at this pace.")


def name_unhandled(letters: dict[str, int]) -> str:
    """What it came past without handling it, as the end of a sentence; empty: nothing."""
    counts = [(letters.get("failed", 0), "dead letter"), (letters.get("parked", 0), "parked event")]
    named = [counted(number, word) for number, word in counts if number]
    are = agree(sum(number for number, _ in counts), "is", "are")
    return f"; {' and '.join(named)} {are} not handled yet" if named else ""


def describe_error(row: Projection) -> str:
    first_line = row.error_message.strip().partition("\n")[0][:200]
    return f"{row.error_type}: {first_line}" if first_line else row.error_type
