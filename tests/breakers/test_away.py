"""The pages and the verbs while Redis does not answer."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from breakers import live, tasks
from breakers.api import get_breaker
from breakers.models import Breaker, Reading, Trip
from dashboard.models import AuditEntry
from dashboard.redis import get_redis
from tests.breakers.conftest import NEVER_CACHED, open_breaker

pytestmark = pytest.mark.django_db
TRIP = {"name": "orders-api", "reason": "they are migrating", "hold": ""}
RESET = {"name": "orders-api", "reason": "fixed"}


class Line:
    """The console's line to Redis, to be cut and mended."""

    def __init__(self, settings: Any) -> None:
        self.settings, self.address = settings, settings.REDIS_URL

    def cut(self) -> None:
        self.settings.REDIS_URL = "unix:///nowhere/at/all"
        get_redis.cache_clear()

    def mend(self) -> None:
        self.settings.REDIS_URL = self.address
        get_redis.cache_clear()


@pytest.fixture
def line(settings: Any) -> Iterator[Line]:
    """One breaker is open and one is closed when the line is cut."""
    open_breaker()
    with get_breaker("billing-api", NEVER_CACHED).call():
        pass
    tasks.tend()
    line = Line(settings)
    line.cut()
    yield line
    line.mend()


@pytest.mark.usefixtures("line")
def test_the_list_says_unknown_and_since_when_and_never_closed(viewer: Client):
    html = viewer.get("/breakers/").content.decode()
    since = timezone.localtime(Reading.objects.get(place=Breaker.OURS).read_at).strftime("%H:%M")
    assert f"Breakers have been unknown since {since}" in html
    assert "was open" in html
    assert "was closed" in html
    assert ">Closed</span>" not in html
    assert "<h2>Not closed when last read</h2>" in html
    assert "<h2>The others, as last read</h2>" in html
    for column in ("Open for", "Failures", "Refused"):
        assert html.count(f'<td data-label="{column}" class="num">unknown</td>') == 2


@pytest.mark.usefixtures("line")
def test_the_breaker_page_says_unknown_too(viewer: Client):
    html = viewer.get("/breakers/breaker/?name=billing-api").content.decode()
    assert "billing-api has been unknown since" in html
    assert "Redis does not answer. The breaker was closed when it was last read, " in html
    html = viewer.get("/breakers/breaker/?name=orders-api").content.decode()
    assert "Redis does not answer. The breaker was open when it was last read, " in html
    assert ", and had left closed at " in html


def test_a_trip_is_on_record_and_acts_when_redis_is_back(operator: Client, line: Line):
    html = operator.post("/breakers/breaker/trip/", TRIP, follow=True).content.decode()
    assert "The trip is on record. Redis does not answer" in html
    line.mend()
    tasks.tend()
    assert "they are migrating" in operator.get("/breakers/breaker/?name=orders-api").content.decode()
    assert live.read(["orders-api"])["orders-api"].is_held


def test_the_end_of_a_trip_is_on_record_and_acts_when_redis_is_back(operator: Client, line: Line):
    line.mend()
    operator.post("/breakers/breaker/trip/", TRIP)
    line.cut()
    operator.post("/breakers/breaker/reset/", RESET)
    line.mend()
    assert live.read(["orders-api"])["orders-api"].is_held
    tasks.tend()
    assert live.read(["orders-api"])["orders-api"].state == "closed"
    assert Trip.objects.get().is_lifted


def test_a_trip_and_its_end_both_made_without_redis_close_what_is_open_by_itself(
    operator: Client, line: Line
):
    operator.post("/breakers/breaker/trip/", TRIP)
    html = operator.get("/breakers/breaker/reset/confirm/?name=orders-api").content.decode()
    assert "takes effect when Redis is back. Then it is closed at once" in html
    operator.post("/breakers/breaker/reset/", RESET)
    line.mend()
    assert live.read(["orders-api"])["orders-api"].state == "open"
    tasks.tend()
    assert live.read(["orders-api"])["orders-api"].state == "closed"


def test_what_opens_by_itself_after_that_stays_open(operator: Client, line: Line):
    operator.post("/breakers/breaker/trip/", {**TRIP, "name": "billing-api"})
    operator.post("/breakers/breaker/reset/", {**RESET, "name": "billing-api"})
    line.mend()
    open_breaker("billing-api")
    tasks.tend()
    assert live.read(["billing-api"])["billing-api"].state == "open"


def test_nor_is_what_somebody_trips_after_that_closed(operator: Client, line: Line):
    operator.post("/breakers/breaker/trip/", TRIP)
    operator.post("/breakers/breaker/reset/", RESET)
    operator.post("/breakers/breaker/trip/", TRIP)
    line.mend()
    tasks.tend()
    tasks.tend()
    assert live.read(["orders-api"])["orders-api"].is_held


@pytest.mark.usefixtures("line")
def test_a_breaker_that_opened_by_itself_cannot_be_reset_and_the_failure_is_on_record(operator: Client):
    html = operator.post("/breakers/breaker/reset/", RESET, follow=True).content.decode()
    assert "Redis does not answer" in html
    assert "Nothing was changed" in html
    assert AuditEntry.objects.get(action="breaker.reset").outcome == "failed"
