from projections.models.account import Skip, Span, WaitingEvent
from projections.models.event import Event, EventType, Head
from projections.models.foreign import ForeignProjection, ForeignSample
from projections.models.measures import LagSample, Pace
from projections.models.projection import NATIVE, UNBLOCKED, Criticality, Effects, Projection
from projections.models.request import RebuildRequest

__all__ = [
    "NATIVE",
    "UNBLOCKED",
    "Criticality",
    "Effects",
    "Event",
    "EventType",
    "ForeignProjection",
    "ForeignSample",
    "Head",
    "LagSample",
    "Pace",
    "Projection",
    "RebuildRequest",
    "Skip",
    "Span",
    "WaitingEvent",
]
