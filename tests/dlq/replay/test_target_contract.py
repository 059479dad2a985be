"""What every target must hold to, whatever it is; a new one adds a case and passes the same tests.

A case takes a sequence of events, some of which it is made to refuse, and says what reached the consumer.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pytest

from dashboard.models import Run
from dashboard.redis import get_redis
from dlq.models import Attempt, DeadLetter, LetterRunItem
from dlq.replay.delivery import make_delivery
from dlq.replay.rows import lock_rows
from dlq.targets import AnyTarget, HandlerTarget, TargetError, find_target
from tests.dlq.replay.conftest import run_all, totals, warm_up
from tests.dlq.replay.server import Received, running_server
from tests.processes import find_port
from tests.shop.models import Applied

TAKE, REFUSE = "take", "refuse"
Start = Callable[..., Run]


class Case(Protocol):
    # Whose letters they are.
    consumer: tuple[str, str]
    # What becomes of an event that it takes, and of one that stands behind it.
    outcomes: dict[str, int]

    def make(self, *wishes: str) -> None:
        """One sequence of open letters, of which the target is to take or to refuse each."""

    def list_received(self) -> list[str]:
        """The events that reached the consumer, in order."""


class HandlerCase:
    consumer = ("native", "letters")
    outcomes = {"succeeded": 2}

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self.pay, self.work = request.getfixturevalue("pay"), request.getfixturevalue("work")
        self.mend = request.getfixturevalue("mend")

    def make(self, *wishes: str) -> None:
        for number, wish in enumerate(wishes):
            self.pay("s", number, mark=f"{number} {wish}", how="ValueError")
        self.work("letters")
        self.mend(*(f"{number} {TAKE}" for number in range(len(wishes))))

    def list_received(self) -> list[str]:
        ids = dict(DeadLetter.objects.values_list("position", "event_id"))
        return [
            ids[position] for position in Applied.objects.order_by("id").values_list("position", flat=True)
        ]


class OutsideCase:
    consumer = ("kafka", "billing")

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self.make_letters = request.getfixturevalue("make_letters")
        self.settings = request.getfixturevalue("settings")
        request.getfixturevalue("patient_lanes")

    def configure(self, target: dict[str, Any], *, timeout_seconds: float = 20) -> None:
        self.settings.TARGETS = {"theirs": {"timeout_seconds": timeout_seconds} | target}
        self.settings.CONSUMERS = {"kafka/billing": {"target": "theirs"}}

    def make(self, *wishes: str) -> None:
        for number, wish in enumerate(wishes, start=1):
            place = {"sequence_key": "s", "sequence_no": number, "event_id": f"e{number}"}
            self.make_letters(1, source="kafka", payload=self.payload(wish), **place)

    def payload(self, wish: str) -> Any:
        raise NotImplementedError

    def break_down(self) -> None:
        """Nobody is there any more."""
        raise NotImplementedError


class HttpCase(OutsideCase):
    outcomes = {"succeeded": 2}

    def __init__(self, request: pytest.FixtureRequest, server: Received) -> None:
        super().__init__(request)
        self.server = server
        self.configure({"kind": "http", "url": server.url})

    def payload(self, wish: str) -> Any:
        return {"how": 200 if wish == TAKE else 422}

    def list_received(self) -> list[str]:
        return [
            event_id
            for event_id, body in zip(self.server.ids, self.server.bodies, strict=True)
            if b"200" in body
        ]

    def break_down(self) -> None:
        self.configure({"kind": "http", "url": f"http://127.0.0.1:{find_port()}/"})


class CeleryCase(OutsideCase):
    # Nobody confirms, so the next of the sequence stays where it is.
    outcomes = {"sent": 1, "held": 1}

    def __init__(self, request: pytest.FixtureRequest) -> None:
        super().__init__(request)
        broker = self.settings.CELERY_BROKER_URL
        warm_up(broker)
        self.configure({"kind": "celery", "broker_url": broker, "task": "shop.handle", "queue": "theirs"})

    def payload(self, wish: str) -> Any:
        return {} if wish == TAKE else b"\xff not JSON"

    def list_received(self) -> list[str]:
        messages = [json.loads(message) for message in get_redis().lrange("theirs", 0, -1)]
        return [message["headers"]["redrive_event_id"] for message in reversed(messages)]

    def break_down(self) -> None:
        broker = f"redis://127.0.0.1:{find_port()}/0"
        target = {"kind": "celery", "broker_url": broker, "task": "shop.handle", "queue": "theirs"}
        self.configure(target, timeout_seconds=0.9)


@pytest.fixture(params=["handler", "http", "celery"])
def case(request: pytest.FixtureRequest, _committed: None) -> Iterator[Case]:
    with running_server() as server:
        yield {
            "handler": lambda: HandlerCase(request),
            "http": lambda: HttpCase(request, server),
            "celery": lambda: CeleryCase(request),
        }[request.param]()


def get_target(case: Case | OutsideCase) -> AnyTarget:
    found = find_target(*case.consumer)
    assert found is not None
    return found


def test_it_says_who_it_is_and_whether_it_could_take_something_now(case: Case) -> None:
    target = get_target(case)
    assert target.name
    assert target.kind
    assert target.dedup_seconds >= 0
    health = target.get_health()
    assert health.is_well
    assert case.consumer[1] in health.sentence or target.name in health.sentence


def test_what_it_takes_ends_as_it_promised_in_order_and_is_never_more_than_that(
    case: Case, start: Start
) -> None:
    case.make(TAKE, TAKE)
    ids = list(DeadLetter.objects.order_by("sequence_no").values_list("event_id", flat=True))
    run = run_all(start())
    assert (run.state, totals(run)) == ("finished", case.outcomes)
    done = case.outcomes.get("succeeded", 0)
    assert case.list_received() == ids[: max(done, 1)]
    assert DeadLetter.objects.filter(status="resolved", resolution="replayed").count() == done
    assert Attempt.objects.filter(run=run, outcome="succeeded").count() == done
    assert not LetterRunItem.objects.filter(is_active=True).exists()


def test_what_it_refuses_is_a_failed_attempt_and_what_stands_behind_is_held(case: Case, start: Start) -> None:
    case.make(REFUSE, TAKE)
    run = run_all(start())
    found = totals(run)
    assert found.pop("held") == 1
    assert found in ({"same_error": 1}, {"new_error": 1})
    assert case.list_received() == []
    attempt = Attempt.objects.get(run=run)
    assert (attempt.outcome, bool(attempt.error_message)) == ("failed", True)
    assert not DeadLetter.objects.filter(closed_at__isnull=False).exists()


def test_the_same_try_twice_can_be_told_to_be_the_same(case: Case, start: Start) -> None:
    """After a lost answer it is sent again: with the same key, or not at all."""
    case.make(TAKE)
    run, target = start(), get_target(case)
    [item] = LetterRunItem.objects.filter(run=run)
    if isinstance(target, HandlerTarget):
        run_all(run)
        LetterRunItem.objects.filter(pk=item.pk).update(is_active=True, outcome="")
        run.lanes.update(is_done=False)
        Run.objects.filter(pk=run.pk).update(state="running")
        run_all(run)
        assert len(case.list_received()) == 1
        return
    delivery = make_delivery(lock_rows([item.pk])[0])
    assert delivery is not None
    assert target.deliver(delivery) == target.deliver(delivery)
    assert len(case.list_received()) == 2
    assert make_delivery(lock_rows([item.pk])[0]) == delivery
    if isinstance(case, CeleryCase):
        tasks = {json.loads(message)["headers"]["id"] for message in get_redis().lrange("theirs", 0, -1)}
        assert len(tasks) == 1
    else:
        assert isinstance(case, HttpCase)
        assert len({key for _, key in case.server.events}) == 1


@pytest.mark.parametrize("case", ["celery"], indirect=True)
def test_what_is_nested_too_deeply_for_a_task_fails_alone_and_not_the_run(
    case: OutsideCase, start: Start, make_letters: Callable[..., list[DeadLetter]]
) -> None:
    make_letters(1, source="kafka", payload=b"[" * 5_000 + b"]" * 5_000)
    run = run_all(start())
    assert (run.state, totals(run)) == ("finished", {"new_error": 1})
    assert "nested too deeply" in Attempt.objects.get(run=run).error_message


# A handler is called in this process, and cannot be away.
@pytest.mark.parametrize("case", ["http", "celery"], indirect=True)
def test_nobody_there_is_said_in_time_and_is_not_the_events_fault(case: OutsideCase, start: Start) -> None:
    case.make(TAKE)
    case.break_down()
    [item] = LetterRunItem.objects.filter(run=start())
    delivery, target = make_delivery(lock_rows([item.pk])[0]), get_target(case)
    assert delivery is not None
    assert not isinstance(target, HandlerTarget)
    with pytest.raises(TargetError) as found:
        target.deliver(delivery)
    assert not found.value.permanent
    assert target.name in str(found.value)
