"""What runs in the workers of the queue `sources`; a task for each source, so that a slow one delays no other."""

from celery import shared_task

from sources import retention
from sources.sync.hold import LEASE_SECONDS
from sources.sync.sync import sync_source


# Over before its lease is, even if a server that has stopped answering holds it up.
@shared_task(soft_time_limit=LEASE_SECONDS - 20, time_limit=LEASE_SECONDS - 10)
def sync(name: str) -> None:
    sync_source(name)


@shared_task
def prune() -> None:
    retention.prune()
