from collections.abc import Callable

import pytest

from dashboard.models import Run
from tests.tally.models import Mark


@pytest.fixture
def is_state() -> Callable[..., bool]:
    def check(run: Run, *states: str) -> bool:
        run.refresh_from_db()
        return run.state in states

    return check


@pytest.fixture
def assert_done_once() -> Callable[[Run], None]:
    """Every item of every lane was done once, and in order."""

    def check(run: Run) -> None:
        marks = list(Mark.objects.filter(run_id=run.pk).order_by("id").values_list("lane", "number"))
        for lane in run.lanes.all():
            assert [number for where, number in marks if where == lane.number] == list(range(lane.total))
            assert lane.done_count == lane.total

    return check
