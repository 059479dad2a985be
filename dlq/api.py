"""What other sections and user code may import from the dead letters, and nothing else."""

from dlq.recording import Failure, Parked, park_events, record_failure, record_failures

__all__ = ["Failure", "Parked", "park_events", "record_failure", "record_failures"]
