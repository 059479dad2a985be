"""A rebuild gives the read model that undisturbed consumption gives, whatever happens to it meanwhile."""

import threading
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connection

from dashboard.models import Lane, Run
from dashboard.runs.operations import cancel_run
from dlq.api import Override, set_override
from dlq.models import DeadLetter, FailureGroup
from projections import accounting
from projections.models import Projection, Skip
from projections.operations import ProjectionStateError, reset_checkpoint, start_rebuild
from projections.queries import find_pause
from projections.rebuild import begin, pause_abandoned
from projections.store import NewEvent, append, get_head, read
from tests.dlq.conftest import someone
from tests.dlq.replay.conftest import everything, run_all, start
from tests.processes import Process, running_beat, running_worker
from tests.shop.models import Balance, Fault
from tests.shop.projections import Balances
from tests.wait import until

__all__ = ["everything", "someone", "start"]

Pay = Callable[..., int]
Work = Callable[..., Projection]
Sums = dict[str, tuple[int, int]]


def rebuild(name: str, reason: str = "the read model is wrong") -> Run:
    return start_rebuild(Projection.objects.get(name=name), actor="ada", reason=reason, request_key=uuid4())


def is_state(run: Run, *states: str) -> bool:
    run.refresh_from_db()
    return run.state in states


def balances() -> Sums:
    return {row.account: (row.amount, row.version) for row in Balance.objects.all()}


def fill(streams: int = 30, events: int = 10) -> None:
    for number in range(streams):
        append(f"s{number}", [NewEvent("Paid", {"amount": number + n}) for n in range(events)])


@pytest.fixture
def built(work: Work) -> Sums:
    """The read model as live consumption built it."""
    fill()
    work("balances")
    return balances()


def test_a_rebuild_empties_the_read_model_and_builds_the_same_again(tmp_path: Path, built: Sums) -> None:
    Balance.objects.create(account="nonsense", amount=1)
    with running_worker(tmp_path / "worker.log"):
        run = rebuild("balances")
        until(lambda: is_state(run, "finished"))
    row = Projection.objects.get(name="balances")
    assert balances() == built
    assert (row.state, row.position) == ("running", get_head())
    assert Lane.objects.get(run=run).totals == {"processed": 300}
    account = accounting.check(row)
    assert (account.processed, account.missing) == (300, 0)


def test_a_rebuild_killed_three_times_ends_with_the_same_read_model(tmp_path: Path, built: Sums) -> None:
    """The fault makes every batch go event by event, so that there is time to kill it at work."""
    append("s0", [NewEvent("Paid", {"amount": 1, "mark": "x"})])
    Fault.objects.create(mark="x", how="KeyError")
    with running_beat(tmp_path / "beat.log"):
        run = rebuild("balances")
        for number in range(4):
            with running_worker(tmp_path / f"worker-{number}.log") as worker:
                if number == 3:
                    until(lambda: is_state(run, "finished"), 60)
                else:
                    until(lambda: is_trying() or is_state(run, "finished"))
                worker.kill()
    assert balances() == built
    row = Projection.objects.get(name="balances")
    assert (row.state, row.position) == ("running", get_head())
    assert DeadLetter.objects.get().position == 301
    assert accounting.check(row).missing == 0


def is_trying() -> bool:
    return Projection.objects.filter(name="balances", state="rebuilding", trial_by__isnull=False).exists()


def test_an_event_that_kills_its_worker_does_not_wedge_a_rebuild(tmp_path: Path, pay: Pay) -> None:
    pay("a", 1)
    pay("b", 2, mark="x", how="die")
    pay("c", 3)
    with running_beat(tmp_path / "beat.log"), running_worker(tmp_path / "worker.log"):
        run = rebuild("balances")
        until(lambda: is_state(run, "finished"), 90)
    assert {account: amount for account, (amount, _) in balances().items()} == {"a": 1, "c": 3}
    assert DeadLetter.objects.get().tier == "poison"


def test_letters_close_as_rebuilt_and_new_failures_are_no_regressions(
    tmp_path: Path, pay: Pay, work: Work
) -> None:
    pay("a", 1, mark="mended", how="KeyError")
    pay("a", 2)
    pay("b", 3, mark="not mended", how="ValueError")
    work("balances")
    Fault.objects.filter(mark="mended").delete()
    with running_worker(tmp_path / "worker.log"):
        run = rebuild("balances")
        until(lambda: is_state(run, "finished"))
    found = DeadLetter.objects.order_by("position").values_list("position", "status", "resolution")
    assert list(found) == [(1, "resolved", "rebuilt"), (2, "resolved", "rebuilt"), (3, "failed", "")]
    assert not FailureGroup.objects.exclude(regressed_at=None).exists()
    assert balances() == {"a": (3, 2)}


def test_overrides_are_honoured_so_that_nothing_given_up_comes_back(
    tmp_path: Path, pay: Pay, work: Work
) -> None:
    pay("a", 1)
    pay("b", 2)
    work("balances")
    event = read(after=0, types=[], limit=1)[0]
    given = {"source": "native", "actor": "olga", "reason": "a test order"}
    set_override("balances", str(event.event_id), Override.Kind.DISCARDED, **given)
    with running_worker(tmp_path / "worker.log"):
        run = rebuild("balances")
        until(lambda: is_state(run, "finished"))
    assert list(balances()) == ["b"]
    assert Skip.objects.get().actor == "olga"


def test_rebuild_reset_and_live_race_each_other(tmp_path: Path, built: Sums) -> None:
    """Writers append, two live consumers run, and a rebuild is asked for in the middle of it."""
    names = ("balances",)
    consumers = [Process("manage.py", "consume", *names, log=tmp_path / f"c{n}.log") for n in range(2)]
    writer = threading.Thread(target=append_and_close)
    try:
        with running_worker(tmp_path / "worker.log"), running_beat(tmp_path / "beat.log"):
            writer.start()
            run = rebuild("balances")
            row = Projection.objects.get(name="balances")
            with pytest.raises(ProjectionStateError, match="is working on balances"):
                reset_checkpoint(row, 0, actor="ada", reason="", request_key=uuid4())
            until(lambda: is_state(run, "finished"))
            writer.join(30)
            until(lambda: Projection.objects.filter(name="balances", position=get_head()).exists())
    finally:
        for consumer in consumers:
            consumer.kill()
    expected = {account: (amount + 5, version + 5) for account, (amount, version) in built.items()}
    assert balances() == expected
    assert not DeadLetter.objects.exists()
    account = accounting.check(Projection.objects.get(name="balances"))
    assert (account.processed, account.missing) == (get_head(), 0)


def append_and_close() -> None:
    try:
        for _ in range(5):
            for number in range(30):
                append(f"s{number}", [NewEvent("Paid", {"amount": 1})])
    finally:
        connection.close()


def test_a_reset_handles_again_what_comes_after_the_position(
    tmp_path: Path, pay: Pay, work: Work, applied: Callable[[str], list[int]]
) -> None:
    pay("a", 1, 2, 3, 4)
    row = work("letters")
    with running_worker(tmp_path / "worker.log"):
        run = reset_checkpoint(row, 2, actor="ada", reason="", request_key=uuid4())
        until(lambda: is_state(run, "finished"))
    row.refresh_from_db()
    assert (row.position, row.accounting_from, row.state) == (2, 2, "running")
    assert work("letters").position == 4
    assert applied("letters") == [1, 2, 3, 4, 3, 4]
    account = accounting.check(row)
    assert (account.total, account.processed, account.missing) == (2, 2, 0)


def test_a_cancelled_rebuild_leaves_the_projection_paused_where_it_is(built: Sums) -> None:
    run = rebuild("balances")
    Projection.objects.filter(name="balances").update(state="rebuilding", position=100)
    cancel_run(run, actor="ada", reason="")
    pause_abandoned()
    row = Projection.objects.get(name="balances")
    assert (row.state, row.position) == ("paused", 100)
    # Whoever paused it earlier, and resumed it, has not paused it now.
    pause = find_pause(row)
    assert pause
    assert pause.actor == "redrive"
    assert pause.reason.startswith(
        f"Its rebuild, run {run.pk}, was cancelled. The read model has what was handled up to 100;"
    )


def test_a_replay_that_waits_for_a_rebuild_does_not_keep_it_from_being_given_up(
    pay: Pay, work: Work, start: Callable[..., Run]
) -> None:
    pay("a", 1, mark="x", how="ValueError")
    work("balances")
    run = rebuild("balances")
    replay = start()
    begin(Balances(), run.lanes.get())
    cancel_run(run, actor="ada", reason="")
    Fault.objects.all().delete()
    assert run_all(replay, rounds=3).state == "running"
    pause_abandoned()
    assert Projection.objects.get(name="balances").state == "paused"


def test_a_projection_without_a_truncate_hook_cannot_be_rebuilt() -> None:
    with pytest.raises(ProjectionStateError, match="no truncate"):
        rebuild("notes")
