"""What other sections may import from the sources, and nothing else."""

from sources.base import SourceError
from sources.inspection import why_not
from sources.retrying import ask_to_retry, why_no_retry

__all__ = ["SourceError", "ask_to_retry", "why_no_retry", "why_not"]
