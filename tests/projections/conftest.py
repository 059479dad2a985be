from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from projections.definition import find_projector
from projections.lag import recount_seen
from projections.models import Projection
from projections.runtime.hand import LIVE
from projections.runtime.turn import take_turn
from projections.store import NewEvent, append
from tests.shop.models import Applied, Fault


class RecordedClock:
    """A clock that tests move; sleeping costs nothing and is remembered."""

    def __init__(self) -> None:
        self.time = timezone.now()
        self.sleeps: list[float] = []

    def now(self) -> datetime:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> RecordedClock:
    return RecordedClock()


@pytest.fixture(autouse=True)
def _committed(transactional_db: None) -> None:
    """Consumers lock and see each other's work, so that what these tests do is committed."""


@pytest.fixture
def pay() -> Callable[..., int]:
    """Append payments to a stream; a mark names the fault that a handler meets there."""

    def pay(stream: str, *amounts: int, mark: str = "", how: str = "", event_type: str = "Paid") -> int:
        if how:
            Fault.objects.update_or_create(mark=mark, defaults={"how": how})
        return append(stream, [NewEvent(event_type, {"amount": amount, "mark": mark}) for amount in amounts])

    return pay


@pytest.fixture
def work(clock: RecordedClock) -> Callable[..., Projection]:
    """Let a projection work until it has nothing to do now; gives its row."""

    def work(name: str, *, turns: int = 200) -> Projection:
        projector = find_projector(name)
        assert projector is not None
        for _ in range(turns):
            if take_turn(projector, LIVE, clock) > 0:
                break
        row = Projection.objects.get(name=name)
        recount_seen(row.pk)
        assert Projection.objects.get(name=name).seen_count == row.seen_count
        return row

    return work


@pytest.fixture
def applied() -> Callable[[str], list[int]]:
    """The positions that a projection applied, in the order in which it did."""

    def applied(consumer: str) -> list[int]:
        rows = Applied.objects.filter(consumer=consumer).order_by("id")
        return list(rows.values_list("position", flat=True))

    return applied
