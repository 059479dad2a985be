"""The one way in: what failed becomes a letter, once, classified and grouped."""

from dlq.recording.failure import Event, Failure, Parked
from dlq.recording.record import add_common, park_events, record_failure, record_failures

__all__ = ["Event", "Failure", "Parked", "add_common", "park_events", "record_failure", "record_failures"]
