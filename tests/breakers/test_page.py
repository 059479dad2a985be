"""The list of breakers."""

import re
import time
from html import unescape

import pytest
from django.test import Client

from breakers import scripts, tasks
from breakers.api import Policy, get_breaker, get_profile
from breakers.models import Breaker
from dashboard.redis import get_redis
from tests.breakers.conftest import fail, open_breaker
from tests.markup import read_html

pytestmark = pytest.mark.django_db


def test_an_open_breaker_is_shown_before_beat_has_heard_of_it(viewer: Client):
    open_breaker("orders-api", used_by="target orders")
    html = read_html(viewer.get("/breakers/"))
    assert "1 breaker is not closed" in html
    assert "ConnectionError: refused" in html
    assert "probe in" in html
    assert "2/2" in html
    tasks.tend()
    assert "target orders" in read_html(viewer.get("/breakers/"))


def test_the_breaker_page(viewer: Client):
    open_breaker("orders-api", used_by="target orders")
    for _ in range(2):
        html = read_html(viewer.get("/breakers/breaker/?name=orders-api"))
        assert "orders-api is open" in html
        tasks.tend()
    assert "too many failures" in html


def test_a_breaker_that_was_never_open_has_a_chart_with_a_name(viewer: Client):
    breaker = get_breaker("orders-api", Policy(failure_threshold=5, cache_seconds=0))
    fail(breaker, ValueError("once"))
    tasks.tend()
    html = read_html(viewer.get("/breakers/breaker/?name=orders-api"))
    assert "Closed all the time, as far as is on record." in html
    assert 'aria-label=""' not in html
    assert "Time not closed by day" in html


def test_hostile_names_and_errors_are_escaped(viewer: Client):
    name = "<script>alert(1)</script>&?#/../x%00"
    breaker = get_breaker(name, Policy(failure_threshold=1, cache_seconds=0), used_by="<b>bold</b>")
    fail(breaker, ValueError("<img src=x onerror=alert(1)>\0"))
    tasks.tend()
    html = read_html(viewer.get("/breakers/"))
    assert "<script>alert" not in html
    assert "<img" not in html
    assert "<b>bold" not in html
    response = viewer.get("/breakers/breaker/", {"name": name})
    assert response.status_code == 200
    assert "<script>alert" not in read_html(response)


def open_many(count: int) -> None:
    """Breakers that are open, the newest with the highest number."""
    for number in range(count):
        open_breaker(f"api-{number:03}", Policy(failure_threshold=1), clock=lambda: 1_700_000_000 + number)  # noqa: B023


def names_in(html: str) -> list[str]:
    return re.findall(r'class="mono">([^<]+)</a>', html)


def test_open_ones_come_first_newest_first_and_page_on(viewer: Client):
    open_many(60)
    with get_breaker("quiet").call():
        pass
    tasks.tend()
    html = read_html(viewer.get("/breakers/"))
    assert "60 breakers are not closed" in html
    assert names_in(html) == [f"api-{number:03}" for number in range(59, 9, -1)]
    assert "No more of them are open" in read_html(viewer.get("/breakers/?from=60&state=open"))
    more = read_html(viewer.get("/breakers/?from=50&state=open"))
    assert names_in(more) == [f"api-{number:03}" for number in range(9, -1, -1)]
    assert names_in(read_html(viewer.get("/breakers/?state=closed"))) == ["quiet"]


def test_the_others_fill_the_page_and_page_on(viewer: Client):
    open_many(2)
    for number in range(60):
        with get_breaker(f"quiet-{number}").call():
            pass
    tasks.tend()
    html = read_html(viewer.get("/breakers/"))
    assert len(names_in(html)) == 50
    assert names_in(html)[:2] == ["api-001", "api-000"]
    older = re.search(r'rel="next" href="([^"]+)"', html)
    assert older
    second = read_html(viewer.get(f"/breakers/{unescape(older[1])}"))
    assert len(names_in(second)) == 12
    assert not set(names_in(second)) & set(names_in(html))


def test_a_live_region_shows_the_rows_that_its_page_showed(viewer: Client):
    for number in range(70):
        with get_breaker(f"quiet-{number}").call():
            pass
    tasks.tend()
    older = re.search(r'rel="next" href="([^"]+)"', read_html(viewer.get("/breakers/")))
    assert older
    page = read_html(viewer.get(f"/breakers/{unescape(older[1])}"))
    open_many(1)
    live = re.search(r'hx-get="([^"]+)"', page)
    assert live
    region = read_html(viewer.get(unescape(live[1]), headers={"HX-Request": "true"}))
    assert names_in(region) == names_in(page)


def test_search_looks_at_all_of_them(viewer: Client):
    open_many(3)
    with get_breaker("quiet-api-002").call():
        pass
    tasks.tend()
    assert names_in(read_html(viewer.get("/breakers/?q=API-002"))) == ["api-002", "quiet-api-002"]
    html = read_html(viewer.get("/breakers/?q=no-such"))
    assert "No breaker matches" in html


@pytest.mark.parametrize("query", ["state=ajar", "from=-1", "from=x", "from=99999999", "after=damaged"])
def test_nonsense_in_the_address_is_refused(viewer: Client, query: str):
    assert viewer.get(f"/breakers/?{query}").status_code == 400


def test_a_number_that_is_none_is_named(viewer: Client):
    html = read_html(viewer.get("/breakers/?from=x"))
    assert "from is &#x27;x&#x27;; it can be the number of a row, of at most six digits." in html


def test_nothing_yet_says_what_would_be_here(viewer: Client):
    assert "Nothing goes through a breaker yet" in read_html(viewer.get("/breakers/"))


def test_a_half_open_breaker_shows_its_successes(viewer: Client):
    now = time.time() - 60
    policy = Policy(failure_threshold=1, open_seconds=60, success_threshold=3, cache_seconds=0)
    breaker = get_breaker("api", policy, clock=lambda: now)
    fail(breaker)
    now += 60
    with breaker.call():
        pass
    html = read_html(viewer.get("/breakers/"))
    assert "Half open" in html
    assert "1 of 3 probes succeeded" in html
    assert "1 of 3" in read_html(viewer.get("/breakers/breaker/?name=api"))


def test_the_configuration_and_what_it_means_are_on_its_page(viewer: Client):
    with get_breaker("vault", "key-vault").call():
        pass
    html = read_html(viewer.get("/breakers/breaker/?name=vault"))
    assert "<dt>While it is open</dt><dd>Secrets come from the cache" in html
    assert "extended to 30 minutes during an outage" in html
    assert "3 consecutive failures" in html
    assert "401, 403" in html
    open_breaker("vault", get_profile("key-vault"))
    html = read_html(viewer.get("/breakers/breaker/?name=vault"))
    assert "<dt>What it means</dt><dd>Secrets come from the cache" in html


def test_a_policy_of_another_version_leaves_the_pages_as_they_are(viewer: Client):
    open_breaker("orders-api")
    scripts.announce(get_redis().execute_command, "orders-api", None, '{"from_the_future": 1}', "")
    tasks.tend()
    assert Breaker.objects.get().policy == {"from_the_future": 1}
    for path in ("/breakers/", "/breakers/breaker/?name=orders-api"):
        page = viewer.get(path)
        assert (page.status_code, b"orders-api" in page.content) == (200, True)
