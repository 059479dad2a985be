"""What other sections and user code may import from the dead letters, and nothing else."""

from dlq.at_source import (
    Closing,
    Standing,
    close_at_source,
    find_letters,
    is_awaited,
    place_letters,
    reopen_letters,
)
from dlq.classification.error import classify_error
from dlq.cleaning import JsonbText, JsonText, clean_text, is_believable
from dlq.json_tree import draw_masked
from dlq.masking import find_masked, mask_error
from dlq.models.override import Override
from dlq.models.words import Category
from dlq.overrides import count_overrides, find_overrides, remove_override, set_override
from dlq.recent import RecentLetter, list_recent
from dlq.recording import Failure, Parked, park_events, record_failure, record_failures
from dlq.sampling import take_sample
from dlq.sequences import (
    BlockingLetter,
    close_rebuilt,
    count_by_source,
    count_open,
    find_first_open_position,
    find_statuses,
    list_blocking,
    lock_letters,
    park_again,
)

__all__ = [
    "BlockingLetter",
    "Category",
    "Closing",
    "Failure",
    "JsonText",
    "JsonbText",
    "Override",
    "Parked",
    "RecentLetter",
    "Standing",
    "classify_error",
    "clean_text",
    "close_at_source",
    "close_rebuilt",
    "count_by_source",
    "count_open",
    "count_overrides",
    "draw_masked",
    "find_first_open_position",
    "find_letters",
    "find_masked",
    "find_overrides",
    "find_statuses",
    "is_awaited",
    "is_believable",
    "list_blocking",
    "list_recent",
    "lock_letters",
    "mask_error",
    "park_again",
    "park_events",
    "place_letters",
    "record_failure",
    "record_failures",
    "remove_override",
    "reopen_letters",
    "set_override",
    "take_sample",
]
