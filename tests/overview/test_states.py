"""What the overview and the workers' page say in states that are rare."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from breakers import tasks
from breakers.api import Policy, get_breaker
from dashboard.memo import forget_all
from dashboard.models import Heartbeat, Run
from dashboard.redis import get_redis
from dlq.models import DeadLetter, ReplaySwitch
from dlq.sampling import take_sample
from projections.models import ForeignProjection, Projection
from tests.markup import read_html
from tests.overview.test_needs import make_run, stop_a_projection

pytestmark = pytest.mark.django_db


@pytest.fixture
def _no_redis(settings: Any) -> Iterator[None]:
    settings.REDIS_URL = "unix:///nowhere/at/all"
    get_redis.cache_clear()
    yield
    get_redis.cache_clear()


def look(client: Client) -> str:
    return read_html(client.get("/"))


def test_every_breaker_is_closed(viewer: Client) -> None:
    with get_breaker("orders-api", Policy(cache_seconds=0)).call():
        pass
    tasks.tend()
    page = look(viewer)
    assert "<strong>All are closed</strong><p>Every call goes through.</p>" in page
    assert '<p class="d">every call goes through</p>' in page
    assert '<a href="/breakers/">Breakers</a>' in page


@pytest.mark.usefixtures("_no_redis")
def test_a_redis_that_never_answered_leaves_everything_unknown(viewer: Client) -> None:
    page = look(viewer)
    assert "Redis does not answer. Whether any is open is unknown." in page
    assert '<p class="n">unknown</p><p class="d">Redis does not answer</p>' in page
    # What the page itself has found out comes first, though beat, which is silent, did not tell it.
    assert re.findall("<strong>(.*?)</strong>", page)[:3] == [
        "Redis does not answer",
        "No worker runs",
        "Beat is silent",
    ]
    page = read_html(viewer.get("/workers/"))
    assert "<h1>Redis does not answer</h1>" in page
    assert "It has not been seen yet. Runs can be asked for" in page
    assert "No such file or directory. Requests are kept" in page


def test_beat_that_lives_and_never_heard_of_redis_says_so_on_every_page(viewer: Client) -> None:
    Heartbeat.objects.create(
        kind=Heartbeat.Kind.BEAT, name="here", seen_at=timezone.now(), started_at=timezone.now()
    )
    assert "Redis does not answer. It has not been seen yet." in read_html(viewer.get("/audit/"))
    Heartbeat.objects.all().delete()
    assert "It has not been seen yet. Lost work is not found again" in look(viewer)


def test_a_lag_that_is_only_a_bound_is_said_to_be_one(viewer: Client) -> None:
    Projection.objects.all().delete()
    given = {
        "state": "running",
        "read_at": timezone.now(),
        "oldest_at": timezone.now() - timedelta(minutes=3),
    }
    ForeignProjection.objects.create(source="orders", name="totals", lag=1200, lag_bound="at_least", **given)
    page = look(viewer)
    assert "orders/totals: at least 1,200 events, 3 min" in page
    assert 'class="num">at least 1,200</td>' in page
    row = ForeignProjection.objects.get()
    page = read_html(viewer.get(reverse("projections:foreign", args=[row.pk])))
    assert '<p class="n"><small>at least</small> 1,200</p>' in page


def test_a_projection_that_has_stopped_is_not_up_to_date_though_nothing_waits_yet(viewer: Client) -> None:
    stop_a_projection()
    page = look(viewer)
    assert "projections needs you, and" in page
    assert '<p class="d">1 needs you</p>' in page
    assert "up to date," not in page


def test_letters_that_do_not_say_how_often_they_were_tried_have_no_link(
    viewer: Client, fail: Callable[..., None]
) -> None:
    fail("billing", 2)
    DeadLetter.objects.update(attempts=0)
    assert "They are counted once a minute, while beat and a worker of housekeeping run." in look(viewer)
    assert "as of " not in look(viewer)
    take_sample()
    forget_all()
    page = look(viewer)
    assert "<li><a>not said</a>" in page
    assert "as of about " in page
    assert "when 2 were open" not in page


def test_attempts_that_were_counted_before_say_how_many_were_open_then(
    viewer: Client, fail: Callable[..., None]
) -> None:
    fail("billing", 2)
    take_sample()
    fail("shipping", 1)
    assert "when 2 were open" in look(viewer)


@pytest.mark.parametrize(("state", "tone"), [("pending", "info"), ("paused", "warn"), ("cancelling", "warn")])
def test_a_run_that_does_not_run_is_shown_with_its_state(viewer: Client, state: str, tone: str) -> None:
    make_run(state=state)
    page = look(viewer)
    assert f'<span class="badge {tone}">{state.capitalize()}</span>' in page
    assert f'<p class="d">{state}: Count marks</p>' in page


@pytest.mark.parametrize(("number", "others"), [(2, "another"), (3, "others")])
def test_runs_that_run_are_named_without_their_state(viewer: Client, number: int, others: str) -> None:
    for _ in range(number):
        make_run(state=Run.State.RUNNING)
    page = look(viewer)
    assert "Running</span>" not in page
    assert f'<p class="d">Count marks and {others}</p>' in page


def test_reasons_end_like_sentences(viewer: Client) -> None:
    make_run(state=Run.State.FAILED, failure="its target is gone.", ended_at=timezone.now())
    ReplaySwitch.objects.create(stopped_by="ada", reason="payments are down")
    page = look(viewer)
    assert "<span>Count marks: its target is gone.</span>" in page
    assert "<span>By ada: payments are down. Runs keep their place, and none starts.</span>" in page
