"""What people do with projections, each audited; what takes time is a run."""

from projections.operations.blocked import dead_letter_event, resume_projection, skip_event
from projections.operations.consuming import pause_projection
from projections.operations.errors import ProjectionStateError
from projections.operations.foreign import reset_foreign_checkpoint
from projections.operations.rebuilds import (
    deny_rebuild,
    grant_rebuild,
    request_rebuild,
    reset_checkpoint,
    start_rebuild,
    why_no_reset,
)
from projections.operations.skips import bring_back_skip

__all__ = [
    "ProjectionStateError",
    "bring_back_skip",
    "dead_letter_event",
    "deny_rebuild",
    "grant_rebuild",
    "pause_projection",
    "request_rebuild",
    "reset_checkpoint",
    "reset_foreign_checkpoint",
    "resume_projection",
    "skip_event",
    "start_rebuild",
    "why_no_reset",
]
