"""Holding a breaker open by hand."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from breakers import tasks
from breakers.api import BreakerOpen, get_breaker
from breakers.models import Breaker, Transition, Trip
from breakers.operations import trip_breaker
from dashboard.models import AuditEntry
from dashboard.redis import get_redis
from tests.breakers.conftest import NEVER_CACHED

pytestmark = pytest.mark.django_db
FIELDS = {"name": "orders-api", "reason": "they are migrating", "hold": ""}


@pytest.fixture(autouse=True)
def _breaker() -> None:
    with get_breaker("orders-api", NEVER_CACHED).call():
        pass


def is_refused() -> bool:
    try:
        with get_breaker("orders-api", NEVER_CACHED).call():
            return False
    except BreakerOpen as refusal:
        return refusal.retry_after is None or refusal.retry_after > 0


def test_it_works(operator: Client):
    response = operator.post("/breakers/breaker/trip/", FIELDS, follow=True)
    assert "orders-api is held open. Calls to it are refused." in response.content.decode()
    assert "they are migrating" in response.content.decode()
    assert is_refused()


def test_it_says_what_will_happen_first(operator: Client):
    html = operator.get("/breakers/breaker/trip/confirm/?name=orders-api").content.decode()
    assert "Every call to it is refused, in every process" in html
    assert "Who depends on it is unknown." in html


def test_it_rejects_get(operator: Client):
    assert operator.get("/breakers/breaker/trip/").status_code == 405


def test_a_viewer_may_not(viewer: Client):
    assert viewer.post("/breakers/breaker/trip/", FIELDS).status_code == 403
    assert viewer.get("/breakers/breaker/trip/confirm/?name=orders-api").status_code == 403
    assert not is_refused()
    assert "Trip…" not in viewer.get("/breakers/breaker/?name=orders-api").content.decode()


def test_twice_is_once(operator: Client):
    operator.post("/breakers/breaker/trip/", FIELDS)
    response = operator.post("/breakers/breaker/trip/", FIELDS | {"reason": "again"}, follow=True)
    assert "held open already, by some-operator: they are migrating" in response.content.decode()
    assert Trip.objects.count() == 1


def test_it_is_audited(operator: Client):
    operator.post("/breakers/breaker/trip/", FIELDS)
    entry = AuditEntry.objects.get(action="breaker.trip")
    assert (entry.actor, entry.subject, entry.reason) == ("some-operator", "orders-api", "they are migrating")
    assert entry.details == {"until": "it is reset"}


def test_it_needs_a_reason(operator: Client):
    response = operator.post("/breakers/breaker/trip/", FIELDS | {"reason": " "})
    assert response.status_code == 400
    assert "Say why" in response.content.decode()
    assert not is_refused()


@pytest.mark.parametrize("wrong", [{"hold": "for ever"}, {"reason": "x" * 501}])
def test_nonsense_is_refused_with_a_sentence(operator: Client, wrong: dict):
    assert operator.post("/breakers/breaker/trip/", FIELDS | wrong).status_code == 400
    assert not Trip.objects.exists()


@pytest.mark.parametrize("name", ["", "no-such-breaker", "x" * 1000])
def test_a_breaker_that_nobody_knows_is_not_found(operator: Client, name: str):
    assert operator.post("/breakers/breaker/trip/", FIELDS | {"name": name}).status_code == 404


def test_with_an_end_it_lets_a_probe_through_afterwards(operator: Client):
    operator.post("/breakers/breaker/trip/", FIELDS | {"hold": "1h"})
    assert is_refused()
    later = timezone.now().timestamp() + 3601
    with get_breaker("orders-api", NEVER_CACHED, clock=lambda: later).call():
        pass
    entries = get_redis().xrange("{redrive:breakers}:transitions")
    assert [fields["cause"] for _, fields in entries] == ["tripped", "hold over", "probes succeeded"]


def test_an_end_that_has_come_ends_the_trip(operator: Client):
    trip_breaker("orders-api", actor="olga", reason="short", hold_for=timedelta(hours=1))
    Trip.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    tasks.tend()
    assert Trip.objects.get().ended_by == "its end"
    # Another may be made now.
    operator.post("/breakers/breaker/trip/", FIELDS)
    assert Trip.objects.filter(ended_at=None).count() == 1


def test_after_a_flush_it_is_held_again_without_anybody_asking(operator: Client):
    operator.post("/breakers/breaker/trip/", FIELDS)
    get_redis().flushdb()
    assert not is_refused()
    tasks.tend()
    assert is_refused()
    assert Breaker.objects.get().state == "open"


def test_pushing_it_again_changes_nothing(operator: Client):
    operator.post("/breakers/breaker/trip/", FIELDS)
    for _ in range(3):
        tasks.tend()
    assert Transition.objects.count() == 1


def test_a_held_breaker_never_expires(operator: Client):
    operator.post("/breakers/breaker/trip/", FIELDS)
    with pytest.raises(BreakerOpen), get_breaker("orders-api", NEVER_CACHED, used_by="late").call():
        pass
    assert get_redis().pttl("{redrive:breakers}:breaker:orders-api") == -1
    assert get_redis().zscore("{redrive:breakers}:seen", "orders-api") == float("inf")
