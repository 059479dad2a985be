"""What a bounded look at the events after a checkpoint says about the lag."""

from dataclasses import dataclass
from datetime import datetime

from sources.checkpoints.contract import Bound

# So many events after a checkpoint are looked at, one by one: a few milliseconds of their database for each projection.
WINDOW = 2_000


@dataclass(frozen=True)
class Lag:
    """Events that wait, how that number is meant, since when, and why it is not known if it is None."""

    events: int | None
    bound: Bound = Bound.EXACT
    since: datetime | None = None
    note: str = ""


def make_lag(number: int, since: datetime | None, *, beyond: int, knows_types: bool) -> Lag:
    """`number` events wait within the window; `beyond` is how many more lie after it, of whatever type."""
    if not knows_types:
        note = "Events of types that it does not handle count too: name its event_types in redrive.toml."
        total = number + beyond
        return Lag(total, Bound.AT_MOST, since, note) if total else Lag(0)
    if not beyond:
        return Lag(number, Bound.EXACT, since)
    if number:
        return Lag(number, Bound.AT_LEAST, since, f"Only the next {WINDOW:,} events were looked at.")
    return Lag(
        None, note=f"None of the next {WINDOW:,} events is of its types; those after them were not looked at."
    )
