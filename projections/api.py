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
    "StoredEvent",
    "VersionConflictError",
    "append",
    "find_event",
    "find_projector",
    "get_head",
    "handles",
    "handles_batch",
    "list_projectors",
    "lock_consumer",
    "presets",
    "read",
    "read_stream",
    "register",
]
