"""The real beat and a real worker: history arrives, and a trip survives a flush, without anybody asking."""

from pathlib import Path

import pytest

from breakers.api import BreakerOpen, get_breaker
from breakers.models import Breaker, Transition
from breakers.operations import trip_breaker
from dashboard.redis import get_redis
from tests.breakers.conftest import NEVER_CACHED, open_breaker
from tests.processes import running_beat, running_worker
from tests.wait import until


def is_refused(name: str) -> bool:
    try:
        with get_breaker(name, NEVER_CACHED).call():
            return False
    except BreakerOpen:
        return True


@pytest.mark.django_db(transaction=True)
def test_beat_copies_and_pushes_again(tmp_path: Path):
    open_breaker("orders-api")
    trip_breaker("billing-api", actor="olga", reason="migration")
    with (
        running_worker(tmp_path / "worker.log", queues="housekeeping"),
        running_beat(tmp_path / "beat.log"),
    ):
        until(lambda: Transition.objects.count() == 2)
        assert Breaker.objects.get(name="orders-api").state == "open"
        get_redis().flushdb()
        until(lambda: is_refused("billing-api"))
        until(lambda: Breaker.objects.get(name="orders-api").state == "closed")
