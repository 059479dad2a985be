"""What the breakers' pages say in states that are rare."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from breakers import operations, tasks
from breakers.api import BreakerOpen, Policy, get_breaker
from breakers.foreign import registry
from breakers.keys import breaker_key
from breakers.models import Breaker, Reading, Trip
from breakers.needs import find_open
from dashboard.paging import write_cursor
from dashboard.redis import get_redis
from tests.breakers.conftest import NEVER_CACHED, fail, open_breaker
from tests.breakers.test_away import Line, line  # noqa: F401
from tests.markup import read_html

pytestmark = pytest.mark.django_db
TRIP = {"name": "orders-api", "reason": "they are migrating", "hold": "1h"}


def show(client: Client, name: str = "orders-api", **query: str) -> str:
    return read_html(client.get("/breakers/breaker/", {"name": name, **query}))


def test_one_that_opens_again_and_again_is_flapping(viewer: Client):
    for _ in range(3):
        open_breaker()
        tasks.tend()
        operations.reset_breaker("orders-api", actor="olga", reason="it is back")
        tasks.tend()
    assert "It is flapping: it left closed 3 times within the hour." in show(viewer)
    assert "It left closed 3 times within the hour" in read_html(viewer.get("/breakers/"))


def test_the_only_one_is_said_to_be_the_only_one_and_its_refusals_are_counted(viewer: Client):
    breaker = open_breaker()
    with pytest.raises(BreakerOpen), breaker.call():
        pass
    html = read_html(viewer.get("/breakers/"))
    assert "It is the only one that is known." in html
    assert '<td data-label="Refused" class="num">1</td>' in html
    operations.reset_breaker("orders-api", actor="olga", reason="it is back")
    html = read_html(viewer.get("/breakers/"))
    assert "The only breaker is closed" in html
    assert "<strong>Not on record yet</strong>" in html
    # A later page can be emptied while somebody reads it.
    tasks.tend()
    after = write_cursor(Breaker.objects.get(), "changed_at")
    html = read_html(viewer.get("/breakers/", {"after": after}))
    assert "No breaker is on this page" in html
    assert '<a href="/breakers/">Go to the first page</a>' in html
    assert "Not on record yet" not in html
    tasks.tend()
    assert "<dt>Refused while last open</dt><dd>1</dd>" in show(viewer)
    assert '<td data-label="Refused" class="num none">–</td>' in read_html(viewer.get("/breakers/"))
    open_breaker()
    assert "<strong>None is closed</strong>" in read_html(viewer.get("/breakers/?state=closed"))
    open_breaker("mail")
    assert "2 are known in all." in read_html(viewer.get("/breakers/"))


def test_a_hold_with_an_end_says_when(operator: Client):
    open_breaker()
    operator.post("/breakers/breaker/trip/", TRIP)
    html = show(operator)
    assert "they are migrating. The hold lasts until " in html
    assert "<dt>Hold ends</dt>" in html
    assert '<span class="dim">hold ends in ' in read_html(operator.get("/breakers/"))
    again = read_html(operator.post("/breakers/breaker/trip/", TRIP, follow=True))
    assert "held open already, by some-operator: they are migrating." in again


def test_a_hold_whose_time_is_over_is_not_said_to_hold(operator: Client):
    """Also if nobody has called it since, and beat has not ended the trip."""
    with get_breaker("orders-api", NEVER_CACHED).call():
        pass
    operator.post("/breakers/breaker/trip/", TRIP)
    Trip.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    get_redis().hset(breaker_key("orders-api"), "held_until", 1)
    html = show(operator)
    assert "orders-api is open" in html
    assert "Its pause is over: the next call is a probe." in html
    assert "tripped it" not in html
    assert "<dt>Next probe</dt><dd>with the next call</dd>" in html
    assert "<dt>Failures</dt><dd>0 of 2</dd>" in html
    assert ">Trip…</a>" in html
    tasks.tend()
    assert [need.headline for need in find_open()] == ["orders-api is open"]


def test_a_hold_that_redis_has_forgotten_is_not_said_to_hold(operator: Client):
    open_breaker()
    operator.post("/breakers/breaker/trip/", TRIP)
    tasks.tend()
    get_redis().flushdb()
    html = show(operator)
    assert "orders-api is closed" in html
    assert "Redis does not know of the hold, so every call goes through until it is told again" in html
    assert "beat and a worker of housekeeping run. The hold lasts until <time" in html
    assert "<dt>Failures</dt><dd>0 of 2</dd>" in html
    open_breaker()
    assert "Redis does not know of the hold, so it is open, but not held, until" in show(operator)
    tasks.tend()
    assert "orders-api is held open" in show(operator)


def test_a_breaker_that_was_never_open_has_refused_nothing(viewer: Client):
    with get_breaker("orders-api", NEVER_CACHED).call():
        pass
    assert "efused" not in show(viewer).partition("<dl")[2]


def test_a_reason_that_ends_with_a_full_stop_has_one(operator: Client):
    open_breaker()
    operator.post("/breakers/breaker/trip/", TRIP | {"reason": "They are migrating."})
    again = read_html(operator.post("/breakers/breaker/trip/", TRIP, follow=True))
    assert "by some-operator: They are migrating.<" in again
    assert "They are migrating. The hold lasts until" in again
    confirm = read_html(operator.get("/breakers/breaker/reset/confirm/?name=orders-api"))
    assert "This ends the hold of some-operator: They are migrating.<" in confirm


@pytest.mark.parametrize(
    ("wrong", "field"), [({"reason": ""}, 'id="id_reason"'), ({"hold": "for ever"}, 'id="id_hold"')]
)
def test_the_focus_is_where_something_is_wrong(operator: Client, wrong: dict[str, str], field: str):
    open_breaker()
    html = read_html(operator.post("/breakers/breaker/trip/", TRIP | wrong))
    [focused] = re.findall(r"<[^>]* autofocus[ >][^>]*", html)
    assert field in focused


def test_one_that_was_held_is_said_to_have_been_held(operator: Client, line: Line):  # noqa: F811
    operator.post("/breakers/breaker/trip/", TRIP)
    assert '<span class="dim">was held open</span>' not in read_html(operator.get("/breakers/"))
    line.mend()
    tasks.tend()
    line.cut()
    for path in ("/breakers/", "/"):
        assert '<span class="dim">was held open</span>' in read_html(operator.get(path))
    assert "The breaker was held open when it was last read, " in show(operator)
    assert "orders-api was held open" in read_html(operator.get("/"))


def test_a_pause_that_is_over_ends_with_the_next_call(viewer: Client):
    open_breaker(clock=lambda: 1_700_000_000)
    assert "<dt>Next probe</dt><dd>with the next call</dd>" in show(viewer)


def test_who_depends_on_it_and_what_would_stop(operator: Client):
    policy = Policy(failure_threshold=5, window_seconds=60, cache_seconds=0)
    for user in ("mailer", "target orders"):
        with get_breaker("orders-api", policy, used_by=user).call():
            pass
    tasks.tend()
    html = show(operator)
    assert "<dd>mailer, target orders</dd>" in html
    assert "5 failures within 1 min" in html
    confirm = read_html(operator.get("/breakers/breaker/trip/confirm/?name=orders-api"))
    assert "It is closed now. Used by mailer and target orders." in confirm


@pytest.mark.parametrize(
    ("query", "headline", "box"),
    [
        ("q=bill", "What matches is closed", ""),
        ("q=mail", "No breaker matches", "None has “mail” in its name"),
        ("q=mail&state=closed", "No breaker matches", "None in that state has “mail” in its name"),
        ("q=bill&state=open", "No breaker matches", "None in that state has “bill” in its name"),
        ("state=closed", "The only breaker is closed", ""),
        ("state=open", "The only breaker is closed", "None is open or half open"),
    ],
)
def test_a_search_that_finds_nothing_says_what_is_not_there(
    viewer: Client, query: str, headline: str, box: str
):
    with get_breaker("billing-api", NEVER_CACHED).call():
        pass
    tasks.tend()
    html = read_html(viewer.get(f"/breakers/?{query}"))
    assert f"<h1>{headline}</h1>" in html
    assert box in html


def test_right_after_a_trip_the_page_does_not_say_that_it_was_closed_all_the_time(operator: Client):
    fail(get_breaker("orders-api", NEVER_CACHED))
    tasks.tend()
    operator.post("/breakers/breaker/trip/", TRIP)
    html = show(operator)
    assert "Closed all the time" not in html
    assert "Not closed for less than 1 s in all." in html
    assert "That it left closed is not on record yet." in html
    assert 'aria-label="Not closed 1 time in the last 24 hours"' in html
    tasks.tend()
    html = show(operator)
    assert "is not on record yet" not in html
    assert 'aria-label="Not closed 1 time in the last 24 hours"' in html


def test_while_redis_is_away_only_a_hold_can_be_ended(operator: Client, line: Line):  # noqa: F811
    why = "Redis does not answer, and only Redis can close it."
    assert f'<dd id="why-no-reset">{why}</dd>' in show(operator)
    confirm = read_html(operator.get("/breakers/breaker/reset/confirm/?name=orders-api"))
    assert f"<h1>orders-api cannot be reset now</h1><p>{why} Try again when Redis is back.</p>" in confirm
    assert "is put on record" not in confirm
    assert "Reset orders-api</button>" not in confirm
    assert "The trip is put on record and takes effect when Redis is back" in read_html(
        operator.get("/breakers/breaker/trip/confirm/?name=orders-api")
    )
    refusal = read_html(operator.post("/breakers/breaker/reset/", TRIP, follow=True))
    assert "No such file or directory). Nothing was changed." in refusal
    operator.post("/breakers/breaker/trip/", TRIP)
    html = show(operator)
    assert "only Redis can close it" not in html
    confirm = read_html(operator.get("/breakers/breaker/reset/confirm/?name=orders-api"))
    assert "the reset is put on record and takes effect when Redis is back." in confirm
    assert "The hold lasts until <time" in html
    assert "; without Redis, only processes that had heard of it refuse calls." in html
    assert Trip.objects.get().expires_at


def test_a_redis_that_never_answered_has_no_since(viewer: Client, line: Line):  # noqa: F811
    Reading.objects.all().delete()
    assert "<h1>orders-api is unknown</h1>" in show(viewer)
    assert "<h1>Breakers are unknown</h1>" in read_html(viewer.get("/breakers/"))
    overview = read_html(viewer.get("/"))
    assert "and breakers are unknown: Redis does not answer." in overview
    assert "Redis does not answer. Below is what was last read." in overview


def test_breakers_of_others_that_were_never_read(viewer: Client, settings: Any):
    settings.FOREIGN_BREAKERS, settings.FOREIGN_BREAKERS_URL = ["pybreaker"], "unix:///nowhere/at/all"
    caches = registry.list_readers, registry.get_foreign_redis
    for cached in caches:
        cached.cache_clear()
    tasks.read_foreign()
    for cached in caches:
        cached.cache_clear()
    html = read_html(viewer.get("/breakers/"))
    assert "directory. They have not been read yet. Look at REDRIVE_FOREIGN_BREAKERS_URL.</span>" in html
    assert "<h1>No breaker can be read</h1>" in html
    assert "Whether anything goes through a breaker is unknown" in html
    with get_breaker("orders-api", NEVER_CACHED).call():
        pass
    tasks.tend()
    html = read_html(viewer.get("/breakers/", {"state": "open"}))
    assert "None that can be read is open or half open" in html
    html = read_html(viewer.get("/breakers/"))
    assert "The only breaker that can be read is closed" in html
    assert "Calls to it go through." in html
    with get_breaker("mail", NEVER_CACHED).call():
        pass
    tasks.tend()
    html = read_html(viewer.get("/breakers/"))
    assert "Both breakers that can be read are closed" in html
    # Those that are listed have just been read.
    assert "<h2>Closed, last changed first</h2>" in html
    overview = read_html(viewer.get("/"))
    assert "<strong>All that can be read are closed</strong><p>Calls to them go through.</p>" in overview
    assert "The breakers of pybreaker are unknown." in overview
    assert "and no breaker that can be read is open." in overview
    assert '<p class="n">unknown</p><p class="d">none that can be read is open</p>' in overview
    open_breaker()
    html = read_html(viewer.get("/breakers/"))
    assert "2 can be read in all." in html
    assert "<h2>Not closed</h2>" in html
