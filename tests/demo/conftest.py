from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from demo import past, timetable
from demo.models import Shop
from demo.past import make_past
from demo.pricing import get_shop
from demo.sink import Sink
from projections.declared import sync_declared


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
