"""What runs in the workers: each task takes ids and holds one line."""

from celery import shared_task

from dashboard import quiet, retention
from dashboard.runs import dispatch, worker


@shared_task
def run_lane(run_id: int, number: int, epoch: int) -> None:
    worker.run_lane(run_id, number, epoch)


@shared_task
def tend_runs() -> None:
    dispatch.tend_runs()


@shared_task
def prune() -> None:
    retention.prune()


@shared_task
def note_quiet() -> None:
    quiet.note_quiet()
