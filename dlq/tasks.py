"""What beat has done about the dead letters."""

from celery import shared_task

from dlq import compaction, items, retention, sampling


@shared_task
def compact() -> None:
    compaction.compact()


@shared_task
def sample() -> None:
    sampling.take_sample()


@shared_task
def release_items() -> None:
    items.release_ended()


@shared_task
def purge() -> None:
    retention.purge()
