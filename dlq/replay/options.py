"""What somebody chose when they asked for a replay; it travels in the run's row."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from dashboard.models import Run

# Letters of one sequence share a bucket, and a bucket is worked on by one lane of a run at a time.
BUCKETS = 4
LANES = (1, 2, 4)
# The canary ladder: so many letters, each the head of another sequence, then the rest.
RUNG_SIZES = (1, 10, 100)
REST = len(RUNG_SIZES) + 1
# What somebody may ask for.
MOST_PACE, MOST_FAILURES = 100_000, 1_000_000


def ladder_sizes() -> list[int]:
    """How many letters each rung ends with."""
    return [sum(RUNG_SIZES[: n + 1]) for n in range(len(RUNG_SIZES))]


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """Starts with the ladder; `pace` is letters a second and None is as fast as it goes."""

    canary: bool = True
    pace: int | None = None
    # So many failures pause the run; None: it goes on to the end.
    stop_after: int | None = 5
    # Everything is undone again; only for handlers with effects in this database.
    dry_run: bool = False
    # Also poison, and what is not offered for replay.
    force: bool = False
    lanes: int = BUCKETS

    @classmethod
    def of(cls, run: Run) -> Self:
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in run.options.items() if name in known})

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def buckets(self, lane: int) -> list[int]:
        """What a lane works on; fewer lanes have more buckets each."""
        return [bucket for bucket in range(BUCKETS) if bucket % self.lanes == lane]
