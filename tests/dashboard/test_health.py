import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from dashboard.models import Heartbeat
from dashboard.redis import get_redis
from dashboard.workers.heartbeats import beat
from dashboard.workers.queries import QUEUES, find_missing
from tests.processes import OwnPostgres, running_beat, running_redis, running_web
from tests.visitor import Visitor
from tests.wait import until


@pytest.fixture
def _alive(db: None) -> None:
    for kind in (Heartbeat.Kind.WORKER, Heartbeat.Kind.BEAT, Heartbeat.Kind.REDIS):
        beat(kind, "here", started_at=timezone.now(), queues=[*QUEUES])


def test_alive_asks_nobody(client: Client) -> None:
    """No `db` fixture: a query would fail the test."""
    assert client.get("/healthz").status_code == 200


@pytest.mark.django_db
def test_not_ready_without_worker_and_beat(client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 503
    expected = {"ready": False, "postgres": "ok", "redis": "ok", "worker": "silent", "beat": "silent"}
    assert response.json() == expected


@pytest.mark.usefixtures("_alive")
def test_ready(client: Client) -> None:
    assert client.get("/readyz").json()["ready"] is True


@pytest.mark.usefixtures("_alive")
def test_a_process_that_was_silent_for_long_is_missing(client: Client) -> None:
    Heartbeat.objects.filter(kind="worker").update(seen_at=timezone.now() - timedelta(minutes=1))
    assert client.get("/readyz").json()["worker"] == "silent"


@pytest.mark.usefixtures("_alive")
def test_every_page_survives_a_redis_that_hangs(admin: Client, settings: Settings, tmp_path: Path) -> None:
    with running_redis(tmp_path) as (redis, address):
        settings.REDIS_URL = address
        get_redis.cache_clear()
        try:
            assert b'<p class="n">unknown</p>' not in admin.get("/").content
            redis.send_signal(signal.SIGSTOP)
            for path in ("/", "/runs/", "/audit/", "/users/"):
                assert admin.get(path).status_code == 200
            page = admin.get("/workers/").content.decode()
            # Though the others have been heard of, and Redis a moment ago.
            assert "<h1>Redis does not answer</h1>" in page
            assert re.search(r'<p class="sub">Last seen \d+ s ago, at ', page)
            assert "<strong>What waits is unknown</strong>" in page
            assert admin.get("/readyz").json()["redis"] == "unreachable"
        finally:
            get_redis.cache_clear()


@pytest.fixture
def own_postgres(transactional_db: None, tmp_path: Path) -> Iterator[OwnPostgres]:
    """To be taken away."""
    server = OwnPostgres(tmp_path)
    yield server
    server.close()


def assert_that_postgres_is_missed(console: str) -> None:
    visitor = Visitor(console)
    visitor.opener.addheaders = [("Cookie", "redrive_session=of-somebody")]
    status, page = visitor.get("/")
    assert (status, "Postgres does not answer" in page) == (503, True)
    assert visitor.get("/healthz")[0] == 200
    assert visitor.get("/readyz")[0] == 503


def test_without_postgres_the_page_says_so(own_postgres: OwnPostgres, tmp_path: Path) -> None:
    with running_web(tmp_path / "web.log", DATABASE_URL=own_postgres.url) as console:
        own_postgres.crash()
        assert_that_postgres_is_missed(console)


def test_a_postgres_that_hangs_is_missed_too(own_postgres: OwnPostgres, tmp_path: Path) -> None:
    """Also by those who are connected: nothing tells them but its silence."""
    with running_web(tmp_path / "web.log", DATABASE_URL=own_postgres.url) as console:
        visitor = Visitor(console)
        # Each thread of the web has a connection of its own, as it has when people look at pages.
        with ThreadPoolExecutor(8) as pool:
            assert '"postgres": "ok"' in list(pool.map(lambda _: visitor.get("/readyz")[1], range(8)))[-1]
        with own_postgres.hanging():
            assert_that_postgres_is_missed(console)
        assert '"postgres": "ok"' in visitor.get("/readyz")[1]


@pytest.mark.usefixtures("_alive")
@pytest.mark.parametrize("queue", QUEUES)
def test_a_queue_that_no_worker_takes_is_missed(client: Client, viewer: Client, queue: str) -> None:
    """Workers for the other queues are no comfort."""
    Heartbeat.objects.filter(kind="worker").update(
        facts={"queues": [name for name in QUEUES if name != queue]}
    )
    assert client.get("/readyz").json()["worker"] == "silent"
    assert f"No worker takes from queue “{queue}”" in viewer.get("/").content.decode()
    page = viewer.get("/workers/").content.decode()
    assert page.count('<span class="badge bad">Nobody</span>') == 1
    assert page.count('<span class="mono">here</span>') == len(QUEUES) - 1
    assert f'<pre class="copied" tabindex="0">celery -A dashboard.celery worker -Q {queue}</pre>' in page


@pytest.mark.django_db
def test_the_page_of_workers_says_how_what_is_missing_is_started(viewer: Client, settings: Settings) -> None:
    beat(Heartbeat.Kind.WORKER, "here", started_at=timezone.now(), queues=[*QUEUES])
    page = viewer.get("/workers/").content.decode()
    assert "<h1>Beat is silent</h1>" in page
    assert '<pre class="copied" tabindex="0">celery -A dashboard.celery beat</pre>' in page
    Heartbeat.objects.all().delete()
    commands = [
        *(f"celery -A dashboard.celery worker -Q {name}" for name in QUEUES),
        "celery -A dashboard.celery beat",
    ]
    assert "\n".join(commands) in viewer.get("/workers/").content.decode()
    settings.EMBEDDED = True
    page = viewer.get("/workers/").content.decode()
    assert "<code>python3 manage.py up</code> starts them all." in page
    assert "celery -A" not in page


@pytest.mark.usefixtures("_alive")
def test_workers_that_are_all_there_are_counted(viewer: Client) -> None:
    beat(Heartbeat.Kind.WORKER, "there", started_at=timezone.now(), queues=["replays"])
    page = viewer.get("/workers/").content.decode()
    assert "<h1>3 processes alive</h1>" in page
    assert '<span class="mono">here</span>, <span class="mono">there</span>' in page
    assert "celery -A" not in page


@pytest.mark.usefixtures("_alive")
def test_where_nothing_is_missing_the_page_counts_who_is_alive(viewer: Client) -> None:
    beat(Heartbeat.Kind.WORKER, "there", started_at=timezone.now(), queues=["replays"])
    page = viewer.get("/workers/").content.decode()
    assert "<h1>3 processes alive</h1>" in page
    assert '<span class="mono">here</span>, <span class="mono">there</span>' in page
    assert "Nobody" not in page


def is_redis_heard_of_between_two_beats() -> bool:
    Heartbeat.objects.all().delete()
    until(lambda: Heartbeat.objects.filter(kind="beat").exists())
    Heartbeat.objects.filter(kind="beat").delete()
    until(lambda: Heartbeat.objects.filter(kind="beat").exists())
    return Heartbeat.objects.filter(kind="redis").exists()


def test_beat_lives_and_says_so_while_redis_hangs(transactional_db: None, tmp_path: Path) -> None:
    with running_redis(tmp_path) as (redis, address), running_beat(tmp_path / "beat.log", REDIS_URL=address):
        until(lambda: Heartbeat.objects.filter(kind="redis").exists())
        redis.send_signal(signal.SIGSTOP)
        # An answer that came just before may be noted just after.
        until(lambda: not is_redis_heard_of_between_two_beats())
        assert next(need.headline for need in find_missing()) == "Redis does not answer"
