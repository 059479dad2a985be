"""Transitions and the directory in Postgres, and what is forgotten."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from breakers import history, scripts, tasks
from breakers.api import Policy, get_breaker
from breakers.copying import close_forgotten, copy_transitions
from breakers.history import (
    MOST_TRANSITIONS,
    Outage,
    count_flaps,
    find_outages,
    list_outages,
    sum_days,
)
from breakers.keys import breaker_key
from breakers.models import Breaker, Reading, Transition
from breakers.needs import find_open
from breakers.operations import trip_breaker
from dashboard.days import start_of_day
from dashboard.redis import get_redis
from tests.breakers.conftest import NEVER_CACHED, fail, open_breaker

pytestmark = pytest.mark.django_db
NOW = 1_700_000_000.0


def test_transitions_are_copied_once():
    open_breaker()
    for _ in range(3):
        tasks.tend()
    transition = Transition.objects.get()
    assert (transition.from_state, transition.to_state, transition.cause) == (
        "closed",
        "open",
        "too many failures",
    )
    assert transition.error == "ConnectionError: refused"
    assert transition.breaker.left_closed_at == transition.at


def test_a_death_after_the_copy_and_before_the_place_was_kept_adds_nothing():
    open_breaker()
    copy_transitions()
    Reading.objects.update(cursor="0")
    copy_transitions()
    assert Transition.objects.count() == 1


def test_open_for_counts_since_it_left_closed():
    now = NOW
    breaker = get_breaker(
        "api", Policy(failure_threshold=1, open_seconds=10, cache_seconds=0), clock=lambda: now
    )
    fail(breaker)
    now += 10
    fail(breaker)  # the probe
    tasks.tend()
    row = Breaker.objects.get()
    assert row.state == "open"
    assert row.left_closed_at.timestamp() == NOW
    now += 10
    with breaker.call():
        pass
    tasks.tend()
    row.refresh_from_db()
    assert (row.state, row.left_closed_at) == ("closed", None)
    assert [t.to_state for t in row.transitions.order_by("id")] == [
        "open",
        "half_open",
        "open",
        "half_open",
        "closed",
    ]


def test_a_breaker_that_never_failed_is_in_the_directory():
    with get_breaker("quiet-api", "escrow", used_by="target quiet").call():
        pass
    with get_breaker("quiet-api", "escrow", used_by="projection orders").call():
        pass
    tasks.tend()
    row = Breaker.objects.get()
    assert row.used_by == ["projection orders", "target quiet"]
    assert row.policy["window_seconds"] == 60


def test_who_has_not_called_for_a_week_depends_on_it_no_more():
    with get_breaker("quiet-api", "escrow", used_by="target quiet").call():
        pass
    week_ago = int((timezone.now() - timedelta(days=8)).timestamp() * 1000)
    get_redis().hset(breaker_key("quiet-api"), "user:retired", week_ago)
    tasks.tend()
    assert Breaker.objects.get().used_by == ["target quiet"]


def test_more_breakers_than_one_batch():
    for number in range(1100):
        scripts.announce(get_redis().execute_command, f"api-{number}", 1_700_000_000_000 + number, "{}", "")
    tasks.tend()
    assert Breaker.objects.count() == 1100


@pytest.mark.parametrize("hold_for", [None, timedelta(hours=4)])
def test_a_hold_with_an_end_or_without_hides_none_that_is_heard_of_later(hold_for: timedelta | None):
    trip_breaker("orders-api", actor="olga", reason="migration", hold_for=hold_for)
    tasks.tend()
    with get_breaker("late-api", NEVER_CACHED, used_by="target late").call():
        pass
    tasks.tend()
    assert Breaker.objects.get(name="late-api").used_by == ["target late"]


def test_after_a_flush_postgres_no_longer_says_open():
    open_breaker()
    tasks.tend()
    get_redis().flushdb()
    tasks.tend()
    assert Breaker.objects.get().state == "closed"
    assert Transition.objects.last().cause == "forgotten by Redis"


def test_a_closing_that_was_lost_with_its_server_is_noticed(viewer: Client):
    breaker = open_breaker()
    tasks.tend()
    # What another server took over: it had heard of the closing, and not of how it was told.
    scripts.reset(get_redis().execute_command, breaker.name, None, "")
    get_redis().delete("{redrive:breakers}:transitions")
    tasks.tend()
    assert Breaker.objects.get().state == "closed"
    assert list(find_open()) == []
    assert "orders-api" in viewer.get("/breakers/").content.decode()


def test_a_closing_that_is_still_to_be_copied_is_noted_once():
    breaker = open_breaker()
    tasks.tend()
    scripts.reset(get_redis().execute_command, breaker.name, None, "")
    close_forgotten()
    tasks.tend()
    assert [one.cause for one in Transition.objects.order_by("id")] == ["too many failures", "reset"]


def test_forgotten_breakers_leave_the_indexes_and_held_ones_do_not():
    now = NOW
    fail(get_breaker("old", Policy(failure_threshold=1, cache_seconds=0), clock=lambda: now))
    scripts.hold(get_redis().execute_command, "held", int(NOW * 1000), 1, "")
    week_later = int((NOW + 7 * 24 * 3600) * 1000)
    assert scripts.prune(get_redis().execute_command, "", week_later - 1) == 0
    assert scripts.prune(get_redis().execute_command, "", week_later) == 1
    assert get_redis().zrange("{redrive:breakers}:open", 0, -1) == ["held"]


def test_history_is_kept_for_thirty_days():
    open_breaker()
    tasks.tend()
    Transition.objects.update(at=timezone.now() - timedelta(days=31))
    tasks.prune()
    assert not Transition.objects.exists()
    assert Breaker.objects.exists()


def test_the_stream_is_capped():
    pipeline = get_redis().pipeline(transaction=False)
    scripts.hold(get_redis().execute_command, "api", None, 0, "")
    for number in range(1, 10_500):
        scripts.hold(pipeline.execute_command, "api", None, number, "")
    pipeline.execute()
    # Redis drops whole nodes of about a hundred entries.
    assert 10_000 <= get_redis().xlen("{redrive:breakers}:transitions") < 10_200


def test_outages_and_time_open_per_day():
    began = timezone.localtime().replace(hour=23, minute=0, second=0, microsecond=0) - timedelta(days=1)
    breaker = Breaker.objects.create(name="api")
    for minutes, (old, new) in {
        0: ("closed", "open"),
        10: ("open", "half_open"),
        11: ("half_open", "open"),
        120: ("open", "closed"),
    }.items():
        breaker.transitions.create(
            at=began + timedelta(minutes=minutes), from_state=old, to_state=new, cause="test"
        )
    transitions = list(breaker.transitions.order_by("at"))
    now = began + timedelta(days=1)
    outages = find_outages(breaker, transitions, began - timedelta(days=1), now)
    assert outages == [Outage(began, began + timedelta(hours=2))]
    days = sum_days(outages, began.date(), now.date())
    assert [day.open_seconds for day in days] == [3600, 3600]
    # Seen from a window that begins in the middle of it.
    middle = began + timedelta(minutes=30)
    assert find_outages(breaker, transitions[3:], middle, now) == [Outage(middle, began + timedelta(hours=2))]


def test_an_outage_of_many_probes_is_no_longer_than_it_is():
    now = timezone.now()
    began = now - timedelta(days=2)
    long, short = (Breaker.objects.create(name=name) for name in ("long", "short"))
    changes = [(long, began, "closed", "open"), (short, began, "closed", "open")]
    changes += [(short, began + timedelta(hours=1), "open", "closed")]
    for number in range(MOST_TRANSITIONS // 2):
        at = began + timedelta(hours=2, seconds=30 * number)
        changes += [(long, at, "open", "half_open"), (long, at, "half_open", "open")]
    Transition.objects.bulk_create(
        Transition(breaker=one, at=at, from_state=old, to_state=new) for one, at, old, new in changes
    )
    found = list_outages([long, short], now - timedelta(days=14), now)
    assert found == {long.pk: [Outage(began, now)], short.pk: [Outage(began, began + timedelta(hours=1))]}


def test_of_one_that_flaps_the_newest_outages_are_shown_and_no_others(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(history, "MOST_TRANSITIONS", 3)
    now = timezone.now()
    breaker = Breaker.objects.create(name="api")
    times = [now - timedelta(hours=hours) for hours in (4, 3, 2, 1)]
    for at, (old, new) in zip(times, [("closed", "open"), ("open", "closed")] * 2, strict=True):
        breaker.transitions.create(at=at, from_state=old, to_state=new)
    [outages] = list_outages([breaker], now - timedelta(days=14), now).values()
    assert outages == [Outage(times[1], times[1]), Outage(times[2], times[3])]


def test_an_outage_that_goes_on_ends_now():
    now = timezone.now()
    breaker = Breaker(name="api", state="open", left_closed_at=now - timedelta(days=3))
    since = now - timedelta(days=1)
    assert find_outages(breaker, [], since, now) == [Outage(since, now)]
    assert find_outages(Breaker(name="closed"), [], since, now) == []
    assert start_of_day(now.date()) <= now


def test_leaving_closed_three_times_within_the_hour_is_flapping():
    now = timezone.now()
    outages = [Outage(now - timedelta(minutes=m), now) for m in (50, 20, 5)]
    assert count_flaps(outages, now) == 3
    assert count_flaps(outages[1:], now) == 0


def test_the_overview_says_which_breakers_are_open(viewer: Client):
    open_breaker("orders-api", used_by="target orders")
    tasks.tend()
    html = viewer.get("/").content.decode()
    assert "orders-api is open" in html
    assert "Used by target orders." in html
    assert "It left closed just now. Last error: ConnectionError: refused." in html
    assert [need.tone for need in find_open()] == ["warn"]
    Breaker.objects.update(left_closed_at=timezone.now() - timedelta(minutes=11))
    assert [need.tone for need in find_open()] == ["bad"]


def test_many_open_breakers_are_one_thing_that_needs_a_person(viewer: Client):
    for number in range(7):
        open_breaker(f"api-{number}", NEVER_CACHED)
    tasks.tend()
    assert [need.headline for need in find_open()] == ["7 breakers are not closed"]
    assert "<strong>7 breakers are not closed</strong>" in viewer.get("/").content.decode()
    Reading.objects.update(read_at=timezone.now() - timedelta(minutes=3))
    [need] = find_open()
    assert (need.headline, need.tone) == ("7 breakers were not closed", "warn")
    assert "So it was when last read, 3 min ago; how all of them are now is unknown." in need.sentence
