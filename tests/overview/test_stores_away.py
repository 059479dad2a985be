"""With Redis or a source stopped every page still answers, and says what is away and since when."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from breakers.models import Reading
from dashboard.memo import forget_all
from dashboard.models import Heartbeat
from dashboard.redis import get_redis
from sources.models import SourceState
from sources.sync.sync import sync_source
from tests.addresses import list_addresses
from tests.dashboard.test_access import OPEN
from tests.lived_in import live_in
from tests.processes import running_redis


@pytest.mark.django_db(transaction=True)
def test_every_page_answers_and_names_redis_and_since_when(
    admin: Client, make_user: Callable[..., User], settings: Settings, tmp_path: Path
) -> None:
    with running_redis(tmp_path) as (redis, address):
        settings.REDIS_URL = address
        get_redis.cache_clear()
        try:
            values = live_in(make_user("ada", "operator"))
            redis.kill()
            redis.wait()
            # What beat's thread leaves when Redis no longer answers it.
            silent_since = timezone.now() - timedelta(minutes=1)
            Heartbeat.objects.filter(kind=Heartbeat.Kind.REDIS).update(seen_at=silent_since)
            Reading.objects.update(read_at=silent_since)
            # On a busy machine the walk takes longer than beat may be silent.
            others = Heartbeat.objects.exclude(kind=Heartbeat.Kind.REDIS)
            others.update(seen_at=timezone.now() + timedelta(hours=1))
            forget_all()
            assert_every_page_says(admin, values, "Redis does not answer", "at", silent_since)
            overview = admin.get("/").content.decode()
            assert f"breakers have been unknown since {timezone.localtime(silent_since):%H:%M %Z}" in overview
            assert "was open" in overview
        finally:
            get_redis.cache_clear()


@pytest.mark.django_db(transaction=True)
def test_every_page_answers_and_names_a_source_and_since_when(
    admin: Client, make_user: Callable[..., User], settings: Settings
) -> None:
    values = live_in(make_user("ada", "operator")) | {"name": "orders"}
    settings.SOURCES = {"orders": {"kind": "eventsource-py", "dsn": "postgresql://127.0.0.1:1/nowhere"}}
    sync_source("orders")
    since = timezone.now() - timedelta(minutes=1)
    assert SourceState.objects.filter(error_count=1).update(failing_since=since) == 1
    forget_all()
    assert_every_page_says(admin, values, "orders does not answer", "since", since)


def assert_every_page_says(
    admin: Client, values: dict[str, str], headline: str, word: str, since: datetime
) -> None:
    pages = 0
    for path, name in list_addresses(values):
        if name in OPEN:
            continue
        answer = admin.get(path)
        assert answer.status_code in (200, 400, 404, 405), (path, answer.status_code)
        if answer.status_code == 200 and answer["Content-Type"].startswith("text/html"):
            text = answer.content.decode()
            assert headline in text, path
            assert f"{word} {timezone.localtime(since):%H:%M %Z}" in text, path
            pages += 1
    assert pages > 25
