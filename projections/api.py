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
from projections.foreign.places import describe_place
from projections.models import NATIVE, Criticality, Effects
from projections.picking import Pick, PickError, find_unhandled, pick_events
from projections.policies import PolicyTable
from projections.replaying import LATER_EVENTS, Standing, find_standing, lock_standings, read_at
from projections.runtime.errors import is_outage
from projections.runtime.handle import handle_all, try_once
from projections.runtime.letters import describe_event
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
    "LATER_EVENTS",
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
    "Pick",
    "PickError",
    "PolicyTable",
    "Projector",
    "Retry",
    "Skip",
    "Standing",
    "StoredEvent",
    "VersionConflictError",
    "append",
    "describe_event",
    "describe_place",
    "find_event",
    "find_projector",
    "find_standing",
    "find_unhandled",
    "get_head",
    "handle_all",
    "handles",
    "handles_batch",
    "is_outage",
    "list_projectors",
    "lock_consumer",
    "lock_standings",
    "pick_events",
    "presets",
    "read",
    "read_at",
    "read_stream",
    "register",
    "try_once",
]
