"""What other sections and user code may import; docs/projections.md shows a whole projection."""

from projections import presets
from projections.decisions import DeadLetter, Decision, FailureContext, Fatal, Retry, Skip
from projections.definition import (
    Projector,
    find_projector,
    handles,
    handles_batch,
    list_projectors,
    register,
)
from projections.models import NATIVE, Criticality, Effects
from projections.policies import PolicyTable
from projections.replaying import Standing, find_standing, list_later, lock_standings, read_at
from projections.runtime.errors import is_outage
from projections.runtime.lock import lock_consumer
from projections.runtime.timeouts import Alarm, HandlerTimeoutError
from projections.store import (
    DuplicateEventError,
    NewEvent,
    StoredEvent,
    VersionConflictError,
    append,
    get_head,
    read,
    read_stream,
)
from projections.store.read import find_event

__all__ = [
    "NATIVE",
    "Alarm",
    "Criticality",
    "DeadLetter",
    "Decision",
    "DuplicateEventError",
    "Effects",
    "FailureContext",
    "Fatal",
    "HandlerTimeoutError",
    "NewEvent",
    "PolicyTable",
    "Projector",
    "Retry",
    "Skip",
    "Standing",
    "StoredEvent",
    "VersionConflictError",
    "append",
    "find_event",
    "find_projector",
    "find_standing",
    "get_head",
    "handles",
    "handles_batch",
    "is_outage",
    "list_later",
    "list_projectors",
    "lock_consumer",
    "lock_standings",
    "presets",
    "read",
    "read_at",
    "read_stream",
    "register",
]
