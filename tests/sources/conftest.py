from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sources.models import SourceState
from sources.sync.sync import sync_source
from tests.sources.foreign import DDL, Foreign, foreign_database

KINDS = ("eventsource-py", "platform-services", "sql")


@pytest.fixture(scope="module")
def databases(django_db_setup: None, django_db_blocker: Any) -> Iterator[Callable[[str], str]]:
    """A database for each kind that the module's tests ask for; emptied by each of them."""
    made: dict[str, Any] = {}

    def get(kind: str) -> str:
        if kind not in made:
            with django_db_blocker.unblock():
                manager = foreign_database(DDL[kind])
                made[kind] = (manager, manager.__enter__())
        return str(made[kind][1])

    yield get
    with django_db_blocker.unblock():
        for manager, _ in made.values():
            manager.__exit__(None, None, None)


@pytest.fixture
def make_foreign(databases: Callable[[str], str], settings: Any) -> Iterator[Callable[..., Foreign]]:
    """A foreign system, which is configured as a source of the name `orders`."""
    made: list[Foreign] = []

    def make(kind: str = "eventsource-py", name: str = "orders", **more: Any) -> Foreign:
        foreign = Foreign(kind, databases(kind))
        foreign.execute(f"TRUNCATE {foreign.table}")
        settings.SOURCES = {**settings.SOURCES, name: foreign.configuration | more}
        made.append(foreign)
        return foreign

    settings.SOURCES = {}
    yield make
    for foreign in made:
        foreign.connection.close()


@pytest.fixture
def foreign(make_foreign: Callable[..., Foreign]) -> Foreign:
    return make_foreign()


@pytest.fixture
def sync() -> Callable[..., SourceState]:
    """Look at a source until it has come to rest: the sweep begins at once, whatever the counts say."""

    def sync(name: str = "orders", *, thoroughly: bool = True) -> SourceState:
        if thoroughly:
            for state in SourceState.objects.filter(name=name):
                state.cursor.pop("writes", None)
                state.cursor.pop("sweep_seconds", None)
                state.next_at = None
                state.save()
        sync_source(name)
        return SourceState.objects.get(name=name)

    return sync
