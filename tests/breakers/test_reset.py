"""Closing a breaker by hand."""

import pytest
from django.test import Client

from breakers import tasks
from breakers.api import get_breaker
from breakers.models import Trip
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
