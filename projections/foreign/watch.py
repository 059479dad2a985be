"""What became of a reset: whether its worker began anew, or the checkpoint was at its old place again.

A worker that was not stopped writes its checkpoint anew with its next event, at the head, and nobody is told. So a
reset is watched until its worker has come back, however late that is.
"""

from typing import Any

from projections.models import ForeignProjection
from sources.api import ForeignCheckpoint

WAITING, HOLDS, UNDONE = "waiting", "holds", "undone"


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
    if is_back and not reset["was_stopped"]:
        sentence = (
            f"It was reset, and when its checkpoint was seen again it stood at {place}, where it had been or beyond. "
            "Unless its worker handled everything in that moment, it was not stopped, and the reset is undone: "
            "the events before were not handled again. Stop it and reset again."
        )
        return reset | {"verdict": UNDONE, "sentence": sentence}
    sentence = f"It was reset, and its worker began anew: it was seen at {place} afterwards."
    return reset | {"verdict": HOLDS, "sentence": sentence}
