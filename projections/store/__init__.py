"""The event store: events are appended once, read by stream or by position, and never changed."""

from projections.store.append import DuplicateEventError, NewEvent, VersionConflictError, append
from projections.store.read import StoredEvent, find_position, get_head, get_tail, read, read_stream

__all__ = [
    "DuplicateEventError",
    "NewEvent",
    "StoredEvent",
    "VersionConflictError",
    "append",
    "find_position",
    "get_head",
    "get_tail",
    "read",
    "read_stream",
]
