"""Stories really go wrong: a dead endpoint, a malformed order, a ledger that stops; and come round again."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from demo import stories, timetable
from demo.models import Account, Delivery, Shop, Story
from demo.simulator import Simulator
from demo.sink import Sink
from demo.stories import ENDPOINT, LEDGER, PLOTS, PRODUCER
from dlq.models import DeadLetter
from projections.definition import find_projector
from projections.models import Projection, Skip, WaitingEvent
from projections.runtime.hand import LIVE
from projections.runtime.turn import take_turn
from projections.store import NewEvent, append
from tests.projections.conftest import RecordedClock


@pytest.fixture
def clock() -> RecordedClock:
    return RecordedClock()


@pytest.fixture
def work(sink: Sink, clock: RecordedClock) -> Callable[[str], None]:
    """Let a consumer of the shop work until it has nothing to do now; waits cost nothing."""

    def work(name: str) -> None:
        projector = find_projector(name)
        assert projector
        for _ in range(500):
            if take_turn(projector, LIVE, clock) == 0:
                continue
            next_at = Projection.objects.get(name=name).next_at
            if next_at is None:
                break
            clock.time = max(clock.time, next_at)

    return work


def ship(seller: str, number: int) -> None:
    data = {"order": f"order-{number}", "seller": seller, "carrier": "van"}
    append(f"order-{number}", [NewEvent("OrderShipped", data)])


def test_a_dead_endpoint_opens_its_breaker_and_its_events_wait_while_others_go_on(
    sink: Sink, work: Callable[[str], None], clock: RecordedClock
) -> None:
    sink.dead = "cedar"
    ship("cedar", 1)
    ship("elm", 2)
    ship("cedar", 3)
    work("webhooks")
    assert list(Delivery.objects.values_list("order", flat=True)) == ["order-2"]
    assert set(WaitingEvent.objects.values_list("breaker", flat=True)) == {"hooks.cedar.example"}
    assert WaitingEvent.objects.count() == 2
    assert not DeadLetter.objects.exists()


def test_an_answer_that_refuses_is_a_letter_at_once(sink: Sink, work: Callable[[str], None]) -> None:
    append("order-4", [NewEvent("OrderShipped", {"order": "order-4", "seller": "elm", "carrier": "pigeon"})])
    work("webhooks")
    letter = DeadLetter.objects.get()
    assert (letter.error_type, letter.attempts) == ("EndpointRefused", 1)
    assert letter.summary == "hooks.elm.example answered 422: unknown carrier"


def test_a_malformed_producer_makes_letters_and_skips(sink: Sink, work: Callable[[str], None]) -> None:
    now = timezone.now()
    simulator = Simulator(now)
    stories.begin(PRODUCER, now)
    # Once told, it is not told again.
    for seconds in (1, 2, 3):
        simulator.advance(now + timedelta(seconds=seconds))
    work("order-summary")
    work("catalog-cache")
    assert DeadLetter.objects.filter(consumer="order-summary", error_type="ValueError").count() == 1
    assert Skip.objects.get().reason == "a price that is missing here is fetched when a page wants it"


def test_the_ledger_stops_before_a_release_of_more_than_is_held(
    sink: Sink, work: Callable[[str], None]
) -> None:
    now = timezone.now()
    simulator = Simulator(now)
    simulator.place_order(Shop.objects.get(), now)
    simulator.advance(now + timedelta(seconds=30))
    work("ledger")
    assert Account.objects.filter(held__gt=0).exists()
    stories.begin(LEDGER, now + timedelta(seconds=31))
    simulator.advance(now + timedelta(seconds=32))
    # Once told, it is not told again.
    simulator.advance(now + timedelta(seconds=33))
    work("ledger")
    row = Projection.objects.get(name="ledger")
    assert (row.state, row.error_type) == ("stopped", "LedgerError")


@pytest.mark.django_db
def test_stories_end_and_come_round_again() -> None:
    now = timezone.now()
    Shop.objects.create(pk=1)
    timetable.follow_rhythm(now, speed=1, seller="elm")
    assert set(Story.objects.filter(is_on=True).values_list("name", flat=True)) == set(PLOTS)
    assert Story.objects.get(name=ENDPOINT).subject == "elm"
    later = now + timedelta(minutes=10)
    timetable.follow_rhythm(later, speed=1, seller="birch")
    assert not Story.objects.get(name=ENDPOINT).is_on
    timetable.follow_rhythm(now + timedelta(minutes=12), speed=1, seller="birch")
    assert Story.objects.get(name=ENDPOINT).subject == "birch"
    # Ten times as fast, most are due in a tenth of the time; a breaker's pause takes as long as it takes.
    for name in (PRODUCER, ENDPOINT):
        stories.begin(name, now, subject="elm", speed=10)
    due = now + timedelta(minutes=1.5)
    timetable.follow_rhythm(due, speed=10, seller="acorn")
    assert Story.objects.get(name=PRODUCER).began_at == due
    assert Story.objects.get(name=ENDPOINT).began_at == now


@pytest.mark.django_db
def test_the_next_release_ships_however_many_there_were() -> None:
    now = timezone.now()
    Shop.objects.create(pk=1, patch=25, released_at=now - timedelta(hours=2))
    timetable.follow_rhythm(now, speed=1, seller="elm")
    assert Shop.objects.get().version == "1.7.26"


def test_the_shop_does_not_open_on_a_database_that_is_not_its_own() -> None:
    with pytest.raises(CommandError, match="only on the embedded console's own demo database"):
        call_command("shop")
