"""What became of a reset: whether its worker began anew, or the checkpoint was at its old place again.

A worker that was not stopped writes its checkpoint anew with its next event, at the head, and nobody is told. So a
reset is watched until its worker has come back, however late that is. One that is back at once may have handled
everything in between: then it has counted more events than came after its old place.
"""

from typing import Any

from projections.models import ForeignProjection
from sources.api import ForeignCheckpoint

WAITING, HOLDS, UNDONE = "waiting", "holds", "undone"
# eventsource-py counts an event that it handles live once for the projection and once for the subscription.
COUNTED_AT_MOST = 2


def start_watch(row: ForeignProjection, *, run_id: int, was_stopped: bool) -> dict[str, Any]:
    """What to remember of a checkpoint that was taken back; `was_stopped`: its worker was known not to run."""
    return {
        "run": run_id,
        "from": row.checkpoint,
        "position": row.position,
        "stamp": row.stamp,
        "was_stopped": was_stopped,
        "verdict": WAITING,
        "sentence": "It was reset and has no checkpoint: its worker will begin at the first event.",
    }


def follow(reset: dict[str, Any], found: ForeignCheckpoint) -> dict[str, Any]:
    """The reset with what is known of it now; it changes no more once its worker has come back.

    A look that began before the reset may still tell of the checkpoint as it was.
    """
    if reset.get("verdict") != WAITING or found.stamp == reset["stamp"]:
        return reset
    if reset["position"] is None or found.position is None:
        is_back, place = found.at >= reset["from"], found.at
    else:
        is_back, place = found.position >= reset["position"], f"{found.position:,}"
    if is_back and not reset["was_stopped"] and not has_begun_anew(reset, found):
        sentence = (
            f"It was reset, and when its checkpoint was seen again it stood at {place}, where it had been or beyond, "
            "and nothing shows that the events before were handled again. If its worker was not stopped, the reset is "
            "undone: stop it and reset again."
        )
        return reset | {"verdict": UNDONE, "sentence": sentence}
    sentence = f"It was reset, and its worker began anew: it was seen at {place} afterwards."
    return reset | {"verdict": HOLDS, "sentence": sentence}


def has_begun_anew(reset: dict[str, Any], found: ForeignCheckpoint) -> bool:
    """Whether it has handled more events than there are after its old place; False: it may have, or not."""
    if found.handled is None or found.position is None or reset["position"] is None:
        return False
    return bool(found.handled > COUNTED_AT_MOST * (found.position - reset["position"] + 1))
