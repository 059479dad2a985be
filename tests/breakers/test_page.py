"""The list of breakers."""

import pytest
from django.test import Client

from breakers import tasks
from breakers.api import Policy, get_breaker
from tests.breakers.conftest import fail, open_breaker

pytestmark = pytest.mark.django_db


def test_an_open_breaker_is_shown_before_beat_has_heard_of_it(viewer: Client):
    open_breaker("orders-api", used_by="target orders")
    html = viewer.get("/breakers/").content.decode()
    assert "1 breaker is not closed" in html
    assert "ConnectionError: refused" in html
    assert "target orders" in html
    assert "probe in" in html


def test_the_breaker_page(viewer: Client):
    open_breaker("orders-api", used_by="target orders")
    for _ in range(2):
        html = viewer.get("/breakers/breaker/?name=orders-api").content.decode()
        assert "orders-api is open" in html
        tasks.tend()
    assert "failures" in html


def test_hostile_names_and_errors_are_escaped(viewer: Client):
    name = "<script>alert(1)</script>&?#/../x%00"
    breaker = get_breaker(name, Policy(failure_threshold=1, cache_seconds=0), used_by="<b>bold</b>")
    fail(breaker, ValueError("<img src=x onerror=alert(1)>\0"))
    tasks.tend()
    html = viewer.get("/breakers/").content.decode()
    assert "<script>alert" not in html
    assert "<img" not in html
    assert "<b>bold" not in html
    response = viewer.get("/breakers/breaker/", {"name": name})
    assert response.status_code == 200
    assert "<script>alert" not in response.content.decode()
