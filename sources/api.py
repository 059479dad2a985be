"""What other sections may import from the sources, and nothing else."""

from sources.base import SourceError
from sources.inspection import list_read_only, why_not
from sources.retrying import ask_to_retry, why_no_retry
from sources.rows import describe_rows

__all__ = ["SourceError", "ask_to_retry", "describe_rows", "list_read_only", "why_no_retry", "why_not"]
