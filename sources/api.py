"""What other sections may import from the sources, and nothing else."""

from sources.base import SourceError
from sources.checkpoints.contract import Bound, Checkpoints, ForeignCheckpoint, ResetRefusedError, Unaccounted
from sources.copies import describe_only_copy, list_retention
from sources.inspection import list_read_only, why_not
from sources.keeping import keep_checkpoints
from sources.registry import find_source
from sources.retrying import ask_to_retry, find_retried, why_no_retry
from sources.rows import describe_rows

__all__ = [
    "Bound",
    "Checkpoints",
    "ForeignCheckpoint",
    "ResetRefusedError",
    "SourceError",
    "Unaccounted",
    "ask_to_retry",
    "describe_only_copy",
    "describe_rows",
    "find_retried",
    "find_source",
    "keep_checkpoints",
    "list_read_only",
    "list_retention",
    "why_no_retry",
    "why_not",
]
