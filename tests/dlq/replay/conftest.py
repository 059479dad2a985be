from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from dashboard.models import Lane, Run
from dashboard.runs import states
from dashboard.runs.worker import run_lane
from dlq.filters import LetterFilter
from dlq.models import DeadLetter, LetterRunItem
from dlq.operations import start_replay, start_reprocess
from dlq.queries.replay import preview_replay
from dlq.queries.reprocess import preview_reprocess
from dlq.replay.options import ReplayOptions
from dlq.reprocess.choice import EventChoice
from dlq.selection import Selection, select_matching
from dlq.targets.celery import get_app
from projections.models import Projection
from tests.projections.conftest import _committed, applied, clock, pay, work
from tests.shop.models import Applied, Fault

__all__ = ["_committed", "applied", "clock", "pay", "work"]

QUICK = ReplayOptions(canary=False, stop_after=None)
ALL_EVENTS = EventChoice("letters")


@pytest.fixture
def fail(pay: Callable[..., int], work: Callable[..., Projection]) -> Callable[..., None]:
    """Letters of a projection: the first event of each stream fails, the others are parked behind it."""

    def fail(*streams: str, events: int = 3, consumer: str = "letters", how: str = "ValueError") -> None:
        for stream in streams:
            pay(stream, 1, mark=stream, how=how)
            if events > 1:
                pay(stream, *range(2, events + 1))
        work(consumer)

    return fail


@pytest.fixture
def mend() -> Callable[..., None]:
    """The cause is gone, for some streams or for all."""

    def mend(*streams: str) -> None:
        faults = Fault.objects.filter(mark__in=streams) if streams else Fault.objects.all()
        faults.delete()

    return mend


@pytest.fixture
def everything(someone: User) -> Callable[[], Selection]:
    """All open letters, as of now."""

    def everything(**wanted: str) -> Selection:
        form = LetterFilter(wanted, user=someone)
        assert form.is_valid()
        return select_matching(form)

    return everything


@pytest.fixture
def start(someone: User, everything: Callable[[], Selection]) -> Callable[..., Run]:
    """Start a replay of a selection, confirmed as it was previewed."""

    def start(selection: Selection | None = None, options: ReplayOptions = QUICK, **more: Any) -> Run:
        selection = selection or everything()
        chosen = {name: more[name] for name in ("with_earlier",) if name in more}
        found = preview_replay(selection, force=options.force, **chosen)
        given = {"actor": someone, "request_key": uuid4(), "confirmed": found.count, "reason": "tests"} | more
        return start_replay(selection, options=options, **given)

    return start


@pytest.fixture
def reprocess(someone: User) -> Callable[..., Run]:
    """Start a reprocessing of chosen events, confirmed as it was previewed."""

    def reprocess(choice: EventChoice = ALL_EVENTS, options: ReplayOptions = QUICK, **more: Any) -> Run:
        found = preview_reprocess(choice)
        given = {"watermark": found.watermark, "confirmed": found.count, "actor": someone, "reason": "tests"}
        more = {"request_key": uuid4(), "acknowledged": True} | more
        return start_reprocess(choice, options=options, **given | more)

    return reprocess


@pytest.fixture
def handled(pay: Callable[..., int], work: Callable[..., Projection]) -> None:
    """Two streams of which every event was handled: a of Paid at 1, 3 and Refunded at 5, b of Paid at 2, 4."""
    for amount in (1, 2):
        pay("a", amount)
        pay("b", amount)
    pay("a", 3, event_type="Refunded")
    work("letters")
    Applied.objects.all().delete()


def run_all(run: Run, rounds: int = 200) -> Run:
    """Do in this process what workers and beat would do, until the run rests."""
    for _ in range(rounds):
        Lane.objects.filter(run=run).update(not_before=None)
        for number, epoch in run.lanes.filter(is_done=False).values_list("number", "epoch"):
            run_lane(run.pk, number, epoch)
        states.settle(run.pk)
        run.refresh_from_db()
        if run.state in (*Run.ENDED, Run.State.PAUSED):
            break
    return run


def totals(run: Run) -> dict[str, int]:
    found: dict[str, int] = {}
    for lane in run.lanes.all():
        for name, number in lane.totals.items():
            found[name] = found.get(name, 0) + number
    return {name: number for name, number in found.items() if number}


def statuses() -> dict[tuple[str, int], str]:
    """Each letter's status, by its place in its sequence."""
    rows = DeadLetter.objects.values_list("sequence_key", "sequence_no", "status")
    return {(key, number): status for key, number, status in rows}


def notes(run: Run) -> list[str]:
    items = LetterRunItem.objects.filter(run=run).exclude(note="").order_by("id")
    return list(items.values_list("note", flat=True))


def warm_up(broker_url: str) -> None:
    """Send something to nobody: on a busy machine the first message takes longer than a send may."""
    get_app(broker_url, "").send_task("shop.nothing", queue="nobody", ignore_result=True)
