"""What other sections may import from the sources, and nothing else."""

from sources.base import (
    Bound,
    Checkpoints,
    Evidence,
    ForeignCheckpoint,
    ResetRefusedError,
    Source,
    SourceError,
    Unaccounted,
)
from sources.inspection import find_why_not
from sources.registry import find_source

__all__ = [
    "Bound",
    "Checkpoints",
    "Evidence",
    "ForeignCheckpoint",
    "ResetRefusedError",
    "Source",
    "SourceError",
    "Unaccounted",
    "find_source",
    "find_why_not",
]
