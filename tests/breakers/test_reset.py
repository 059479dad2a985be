"""Closing a breaker by hand."""

import contextlib
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from breakers import scripts, tasks, trips
from breakers.api import get_breaker
from breakers.keys import breaker_key
from breakers.live import read
from breakers.models import Breaker, Trip
from breakers.operations import trip_breaker
from dashboard.models import AuditEntry
from dashboard.redis import get_redis
from tests.breakers.conftest import NEVER_CACHED, open_breaker

pytestmark = pytest.mark.django_db
FIELDS = {"name": "orders-api", "reason": "they say it is fixed"}


def goes_through() -> bool:
    with get_breaker("orders-api", NEVER_CACHED).call():
        return True


def test_it_works(operator: Client):
    open_breaker()
    html = operator.post("/breakers/breaker/reset/", FIELDS, follow=True).content.decode()
    assert "orders-api is closed. Calls to it go through." in html
    assert goes_through()


def test_it_says_what_will_happen_first(operator: Client):
    open_breaker()
    html = operator.get("/breakers/breaker/reset/confirm/?name=orders-api").content.decode()
    assert "every call goes through, without a probe first" in html


def test_where_there_is_nothing_to_reset_it_is_not_offered(operator: Client):
    assert goes_through()
    page = operator.get("/breakers/breaker/reset/confirm/?name=orders-api").content.decode()
    assert "<h1>orders-api cannot be reset now</h1>" in page
    assert "<p>It is closed, and there is no failure to forget.</p>" in page
    assert "Reset orders-api</button>" not in page
    open_breaker()
    page = operator.get("/breakers/breaker/reset/confirm/?name=orders-api").content.decode()
    assert "Reset orders-api</button>" in page


def test_it_ends_a_trip(operator: Client):
    open_breaker()
    trip_breaker("orders-api", actor="olga", reason="migration")
    assert "hold of olga" in operator.get("/breakers/breaker/reset/confirm/?name=orders-api").content.decode()
    operator.post("/breakers/breaker/reset/", FIELDS)
    assert goes_through()
    assert (Trip.objects.get().ended_by, Trip.objects.get().is_lifted) == ("some-operator", True)
    tasks.tend()
    assert goes_through()


def test_it_rejects_get(operator: Client):
    assert operator.get("/breakers/breaker/reset/").status_code == 405


def test_a_viewer_may_not(viewer: Client):
    open_breaker()
    assert viewer.post("/breakers/breaker/reset/", FIELDS).status_code == 403
    assert viewer.get("/breakers/breaker/reset/confirm/?name=orders-api").status_code == 403
    assert "Reset…" not in viewer.get("/breakers/breaker/?name=orders-api").content.decode()


def test_twice_is_once(operator: Client):
    open_breaker()
    operator.post("/breakers/breaker/reset/", FIELDS)
    html = operator.post("/breakers/breaker/reset/", FIELDS, follow=True).content.decode()
    assert "orders-api is closed already. Nothing was changed." in html
    assert get_redis().xlen("{redrive:breakers}:transitions") == 2


def test_it_is_audited(operator: Client):
    open_breaker()
    operator.post("/breakers/breaker/reset/", FIELDS)
    entry = AuditEntry.objects.get(action="breaker.reset")
    assert (entry.actor, entry.subject, entry.reason) == ("some-operator", "orders-api", FIELDS["reason"])


def test_it_needs_a_reason(operator: Client):
    open_breaker()
    assert operator.post("/breakers/breaker/reset/", {"name": "orders-api"}).status_code == 400
    assert not AuditEntry.objects.filter(action="breaker.reset").exists()


def test_a_trip_that_is_over_does_not_keep_it_from_closing(operator: Client):
    open_breaker()
    trip_breaker("orders-api", actor="olga", reason="migration", hold_for=timedelta(hours=1))
    # Its end has come, in Postgres and in Redis, and beat has not been there yet.
    Trip.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    get_redis().hset(breaker_key("orders-api"), "held_until", 1)
    with contextlib.suppress(KeyboardInterrupt), get_breaker("orders-api", NEVER_CACHED).call():
        # A probe that says nothing: it is half open now.
        raise KeyboardInterrupt
    html = operator.post("/breakers/breaker/reset/", FIELDS, follow=True).content.decode()
    assert "orders-api is closed. Calls to it go through." in html
    assert read(["orders-api"])["orders-api"].state == "closed"


def test_a_trip_that_has_not_reached_redis_does_not_keep_it_from_closing(operator: Client):
    open_breaker()
    tasks.tend()
    Trip.objects.create(breaker=Breaker.objects.get(), actor="olga", reason="while Redis was away")
    operator.post("/breakers/breaker/reset/", FIELDS)
    assert goes_through()


def test_a_push_that_comes_after_the_end_holds_nothing(operator: Client):
    trip_breaker("orders-api", actor="olga", reason="migration")
    pushed = Trip.objects.select_related("breaker").get()
    operator.post("/breakers/breaker/reset/", FIELDS)
    # Beat, which had read the trip before it ended.
    trips.hold(pushed)
    assert goes_through()


def test_a_server_that_took_over_without_the_end_of_a_trip_is_told_again(operator: Client):
    trip_breaker("orders-api", actor="olga", reason="migration")
    operator.post("/breakers/breaker/reset/", FIELDS)
    scripts.hold(get_redis().execute_command, "orders-api", None, Trip.objects.get().pk, "")
    tasks.tend()
    assert goes_through()
    # A hold that nobody here knows of is left alone.
    scripts.hold(get_redis().execute_command, "orders-api", None, Trip.objects.get().pk + 1, "")
    tasks.tend()
    assert read(["orders-api"])["orders-api"].is_held
