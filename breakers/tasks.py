"""What runs in the housekeeping worker; each task holds a line or two and bears repetition."""

from celery import shared_task

from breakers import copying, retention, trips
from breakers.foreign import scan


@shared_task
def tend() -> None:
    """In this order: a trip that Redis has forgotten is back before anything is called closed."""
    trips.push_trips()
    copying.copy_transitions()
    copying.close_forgotten()
    copying.copy_directory()


@shared_task
def read_foreign() -> None:
    scan.scan()


@shared_task
def prune() -> None:
    retention.prune()
