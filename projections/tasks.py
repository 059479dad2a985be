"""What beat has done in the housekeeping worker; each bears repetition."""

from celery import shared_task

from projections import accounting, lag, rebuild, requests, retention
from projections.foreign import record as foreign


@shared_task
def sample() -> None:
    lag.take_samples()
    foreign.take_samples()


@shared_task
def account() -> None:
    """The sum that lag is read from is put right on the way, should it ever be off."""
    accounting.check_all()
    lag.recount_idle()


@shared_task
def tend() -> None:
    rebuild.pause_abandoned()
    requests.expire()


@shared_task
def prune() -> None:
    retention.prune()
    foreign.forget()
