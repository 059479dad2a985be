"""What other sections and user code may import from the dead letters, and nothing else."""

from dlq.classification.error import classify_error
from dlq.models.override import Override
from dlq.overrides import count_overrides, find_overrides, remove_override, set_override
from dlq.recent import RecentLetter, list_recent
from dlq.recording import Failure, Parked, park_events, record_failure, record_failures
from dlq.sampling import take_sample
from dlq.sequences import (
    BlockingLetter,
    close_rebuilt,
    count_open,
    find_statuses,
    list_blocking,
    park_again,
)

__all__ = [
    "BlockingLetter",
    "Failure",
    "Override",
    "Parked",
    "RecentLetter",
    "classify_error",
    "close_rebuilt",
    "count_open",
    "count_overrides",
    "find_overrides",
    "find_statuses",
    "list_blocking",
    "list_recent",
    "park_again",
    "park_events",
    "record_failure",
    "record_failures",
    "remove_override",
    "set_override",
    "take_sample",
]
