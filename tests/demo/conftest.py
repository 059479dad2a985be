from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from demo import past, timetable
from demo.models import Shop
from demo.past import make_past
from demo.pricing import get_shop
from demo.sink import Sink
from demo.warehouse import writer
from demo.warehouse.writer import Warehouse
from projections.declared import sync_declared
from tests.processes import this_database_url


@pytest.fixture
def sink(transactional_db: None) -> Iterator[Sink]:
    """The outside world, and a shop that knows where it is."""
    sync_declared()
    sink = Sink(seed=1)
    sink.start()
    Shop.objects.update_or_create(pk=1, defaults={"sink_port": sink.port})
    yield sink
    sink.close()


@pytest.fixture
def short_past(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes a past of twenty minutes, all of it with the bug of 1.7.2."""
    monkeypatch.setattr(timetable, "PAST", timedelta(minutes=20))
    # Each view is a turn of its consumer; these few are enough for it to fall behind.
    monkeypatch.setattr(past, "VIEWS_FOR", timedelta(minutes=3.5))
    Shop.objects.update(patch=2)
    get_shop.forget()

    def make(is_stopping: Callable[[], bool] = lambda: False) -> None:
        make_past(sink, is_stopping=is_stopping)

    return make


@pytest.fixture
def warehouse(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Warehouse]:
    """On a database of its own, in bad times."""
    monkeypatch.setattr(writer, "NAMELESS_SHARE", 0.05)
    # Of this process: tests that run beside it have theirs on the same server.
    own = connection.settings_dict["NAME"]
    name = f"{own}_warehouse"
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {name}")
        cursor.execute(f"CREATE DATABASE {name}")
    url = this_database_url().replace(f"/{own}?", f"/{name}?")
    warehouse = Warehouse(url, timezone.now())
    yield warehouse
    warehouse.close()
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {name}")
