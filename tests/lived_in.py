"""A console that has seen something: every kind of thing that pages show, made by the product's own code."""

import contextlib
from datetime import timedelta
from uuid import uuid4

from django.contrib.auth.models import User
from django.utils import timezone

from breakers import tasks as breakers
from breakers.api import Policy, get_breaker
from breakers.operations import trip_breaker
from dashboard.models import Heartbeat, Run
from dashboard.workers.heartbeats import beat
from dashboard.workers.queries import QUEUES
from dlq.api import Failure, record_failures, take_sample
from dlq.compaction import compact
from dlq.filters import LetterFilter
from dlq.models import ClassificationRule, DeadLetter, FailureGroup
from dlq.operations import start_replay
from dlq.queries.replay import preview_replay
from dlq.replay.options import ReplayOptions
from dlq.selection import select_matching
from projections import tasks as projections
from projections.declared import sync_declared
from projections.definition import find_projector
from projections.models import Projection, Skip
from projections.operations import rebuilds
from projections.runtime.clock import SystemClock
from projections.runtime.hand import LIVE
from projections.runtime.turn import take_turn
from projections.store import NewEvent, append
from tests.addresses import SAMPLES
from tests.shop.models import Fault
from tests.tally.operations import start_tally

POLICY = Policy(failure_threshold=2, open_seconds=600, cache_seconds=0)
TRACE = 'Traceback (most recent call last):\n  File "/app/shop/orders.py", line 17, in apply\n    order["currency"]'


def live_in(somebody: User) -> dict[str, str]:
    """Make it all; gives values for the names that stand in addresses."""
    processes()
    events()
    letters()
    protected_calls()
    run = replay(somebody)
    start_tally(5)
    take_sample()
    compact()
    projection = Projection.objects.get(name="prices")
    request = rebuilds.request_rebuild(projection, actor=somebody, reason="the totals are off")
    rule = ClassificationRule.objects.create(
        category="transient", error_type="SlowError", added_by="somebody"
    )
    found = {
        "run_id": run.pk,
        "user_id": somebody.pk,
        "group_id": FailureGroup.objects.get(consumer="order-summary").pk,
        "letter_id": DeadLetter.objects.filter(consumer="order-summary").latest("pk").pk,
        "rule_id": rule.pk,
        "projection_id": projection.pk,
        "skip_id": Skip.objects.get().pk,
        "request_id": request.pk,
    }
    return SAMPLES | {name: str(pk) for name, pk in found.items()}


def processes() -> None:
    for kind in (Heartbeat.Kind.WORKER, Heartbeat.Kind.BEAT, Heartbeat.Kind.REDIS):
        beat(kind, "here", started_at=timezone.now(), queues=[*QUEUES], pid=1)


def events() -> None:
    """One projection stops, one skips, one dead-letters and parks, and the others have not begun."""
    sync_declared()
    Fault.objects.create(mark="x", how="ValueError")
    append("acc-1", [NewEvent("Paid", {"amount": n, "mark": "x" if n == 1 else ""}) for n in (1, 2, 3)])
    for name in ("prices", "cache", "letters"):
        projector = find_projector(name)
        assert projector
        while take_turn(projector, LIVE, SystemClock()) == 0:
            pass
    for _ in range(3):
        projections.sample()
    projections.account()


def letters() -> None:
    now = timezone.now()
    record_failures(
        Failure(
            consumer=["order-summary", "webhooks", "ai-inference"][n % 3],
            event_id=f"event-{n}-{'0' * 150}",
            event_type="OrderPlaced",
            payload={"order": {"id": n, "currency": None}},
            sequence_key=f"order-{n}",
            error_type=["KeyError", "ConnectTimeout", "DecodeError"][n % 3],
            error_message=["'currency'", "hooks.acme.example timed out", "truncated payload at byte 17"][
                n % 3
            ],
            stacktrace=TRACE,
            failed_at=now - timedelta(minutes=7 * n),
            app_version="1.7.2",
            trace_id=f"trace-{n}",
        )
        for n in range(12)
    )
    # Names without a place to break at.
    long = "x" * 200
    failure = Failure(consumer=long, event_id=long, event_type=long, error_type=long, error_message=long)
    record_failures([failure])


def protected_calls() -> None:
    for name in ("orders-api", "mail"):
        for _ in range(2):
            with (
                contextlib.suppress(ConnectionError),
                get_breaker(name, POLICY, used_by="target orders").call(),
            ):
                raise ConnectionError("refused")
    with get_breaker("stock", POLICY).call():
        pass
    breakers.tend()
    trip_breaker("stock", actor="somebody", reason="they are migrating", hold_for=None)
    breakers.tend()


def replay(somebody: User) -> Run:
    form = LetterFilter({"consumer": "letters"}, user=somebody)
    assert form.is_valid()
    selection = select_matching(form)
    count = preview_replay(selection, force=False).count
    return start_replay(
        selection,
        options=ReplayOptions(),
        actor=somebody,
        request_key=uuid4(),
        confirmed=count,
        reason="1.7.3 is out",
    )
