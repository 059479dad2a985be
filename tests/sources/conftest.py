from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from dashboard.models import Run
from dlq.models import DeadLetter
from dlq.operations import handle_letters
from dlq.selection import Selection, newest_id
from dlq.verbs import VERBS
from projections.models import ForeignProjection
from projections.operations import reset_foreign_checkpoint
from sources.models import SourceState
from sources.sync import hold
from sources.sync.sync import sync_source
from tests.dlq.replay.conftest import run_all
from tests.sources.foreign import DDL, Foreign, foreign_database
from tests.sources.keepers import NAME, EventsourcePy, keeping

KINDS = ("eventsource-py", "platform-services", "sql", "bytea")


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


@pytest.fixture(autouse=True)
def _patient_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a look would be over before it has seen everything."""
    monkeypatch.setattr(hold, "STAGE_SECONDS", 60.0)


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


@pytest.fixture
def look_at(sync: Callable[..., SourceState]) -> Callable[[str, str], ForeignProjection]:
    """Look at a source, at its checkpoints too although it may be soon; gives one of them."""

    def look_at(source: str, name: str) -> ForeignProjection:
        for state in SourceState.objects.filter(name=source):
            state.cursor.pop("checkpoints_at", None)
            state.save()
        assert not sync(source).error
        return ForeignProjection.objects.get(source=source, name=name)

    return look_at


@pytest.fixture
def reset(make_user: Callable[..., User]) -> Callable[[ForeignProjection], Run]:
    """Reset a checkpoint as it was seen, and let a worker do it."""
    admin = make_user("somebody", role="admin")

    def reset(row: ForeignProjection) -> Run:
        given = {"actor": admin, "reason": "tests", "request_key": uuid4()}
        return run_all(reset_foreign_checkpoint(row, row.stamp, **given))

    return reset


@pytest.fixture
def do(make_user: Callable[..., User]) -> Callable[..., None]:
    """What somebody does with letters."""

    def do(verb: str, *letters: DeadLetter) -> None:
        chosen = DeadLetter.objects.filter(pk__in=[letter.pk for letter in letters])
        selection = Selection(chosen, newest_id(), is_by_hand=True, description={})
        who = User.objects.filter(username="alice").first() or make_user("alice", role="admin")
        handle_letters(
            VERBS[verb], selection, confirmed=len(letters), actor=who, request_key=uuid4(), reason="tests"
        )

    return do


@pytest.fixture
def bank(transactional_db: None, settings: Any) -> Iterator[EventsourcePy]:
    """The tables of an eventsource-py application, attached as the source `bank`."""
    with keeping(EventsourcePy) as bank:
        settings.SOURCES = {"bank": bank.configuration}
        settings.CONSUMERS = {}
        yield bank


@pytest.fixture
def look(look_at: Callable[[str, str], ForeignProjection]) -> Callable[[], ForeignProjection]:
    """Look at the bank, and at its projection as the page then knows it."""
    return lambda: look_at("bank", NAME)
