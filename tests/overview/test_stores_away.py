"""With Redis stopped every page still answers, and says which store is away and since when."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from dashboard.memo import forget_all
from dashboard.models import Heartbeat
from dashboard.redis import get_redis
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
            forget_all()
            pages = 0
            for path, name in list_addresses(values):
                if name in OPEN:
                    continue
                answer = admin.get(path)
                assert answer.status_code in (200, 400, 404, 405), (path, answer.status_code)
                if answer.status_code == 200 and answer["Content-Type"].startswith("text/html"):
                    text = answer.content.decode()
                    assert "Redis does not answer" in text, path
                    assert f"at {timezone.localtime(silent_since):%H:%M:%S}" in text, path
                    pages += 1
            assert pages > 25
            overview = admin.get("/").content.decode()
            assert f"breakers are unknown since {timezone.localtime(silent_since):%H:%M}" in overview
            assert "was open" in overview
        finally:
            get_redis.cache_clear()
