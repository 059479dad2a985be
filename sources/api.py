"""What other sections may import from the sources, and nothing else."""

from sources.base import (
    Bound,
    Checkpoints,
    ForeignCheckpoint,
    ResetRefusedError,
    SourceError,
    Unaccounted,
)
from sources.inspection import why_not
from sources.registry import find_source
from sources.retrying import ask_to_retry, why_no_retry

__all__ = [
    "Bound",
    "Checkpoints",
    "ForeignCheckpoint",
    "ResetRefusedError",
    "SourceError",
    "Unaccounted",
    "ask_to_retry",
    "find_source",
    "why_no_retry",
    "why_not",
]
