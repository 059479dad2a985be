from dataclasses import dataclass

from projections.models import Projection

State = Projection.State


@dataclass(frozen=True)
class Hand:
    """Who consumes: live processes, or a rebuild; the projection's state says whose turn it is."""

    state: Projection.State
    batch_size: int
    # A rebuild goes to where the head was when it began, and hands over to live there.
    until: int | None = None
    run_id: int | None = None
    # Effects outside get a commit for each event, unless repeating them all costs nothing, as in a demonstration.
    commits_each: bool = True

    @property
    def is_rebuild(self) -> bool:
        return self.state == State.REBUILDING


# Large enough that the bookkeeping costs little, small enough that a pause is felt at once.
LIVE = Hand(State.RUNNING, batch_size=500)
