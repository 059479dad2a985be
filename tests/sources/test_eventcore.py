"""EventCore's subscriptions, on its own tables and its own lock."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.attention import list_attention
from dashboard.models import Run
from projections.models import ForeignProjection
from sources.checkpoints.eventcore import get_lock_key
from sources.models import SourceState
from tests.dlq.replay.conftest import totals
from tests.markup import read_html
from tests.sources.keepers import FRESH, EventCore, keeping


@pytest.fixture
def core(transactional_db: None, settings: Any) -> Iterator[EventCore]:
    with keeping(EventCore) as core:
        settings.SOURCES = {"core": core.configuration}
        settings.CONSUMERS = {"core/balances": {"event_types": ["Paid"]}}
        yield core


@pytest.fixture
def look(look_at: Callable[[str, str], ForeignProjection]) -> Callable[[], ForeignProjection]:
    return lambda: look_at("core", "balances")


@pytest.mark.parametrize(
    ("name", "key"),
    [("", 0xCBF29CE484222325), ("a", 0xAF63DC4C8601EC8C), ("foobar", 0x85944171F73967E8)],
)
def test_the_lock_is_the_known_hash_of_the_name(name: str, key: int) -> None:
    assert get_lock_key(name) % (1 << 64) == key


def test_one_from_which_nothing_can_be_read_says_why_and_is_not_up_to_date(
    core: EventCore, sync: Callable[..., SourceState], settings: Any, viewer: Client
) -> None:
    """It has no letters, so that checkpoints are all that is looked at."""
    assert sync("core").error == ""
    core.connection.execute("ALTER TABLE eventcore_events RENAME TO events")
    SourceState.objects.update(inspected_at=None)
    assert sync("core").error == "There is no table eventcore_events in this database."
    page = viewer.get("/sources/core/").content.decode()
    assert "core cannot be read" in page
    # In its first line, and beside what cannot be done.
    assert page.count("There is no table eventcore_events in this database.") == 2
    # It never has any.
    assert "See its letters" not in page
    assert any(need.headline == "core cannot be read" for need in list_attention())
    core.connection.execute("ALTER TABLE events RENAME TO eventcore_events")
    assert sync("core").error == ""
    role = f"stranger_{uuid4().hex}"
    core.connection.execute(f"CREATE ROLE {role} LOGIN")
    try:
        there = settings.SOURCES
        dsn = re.sub(r"//[^@]*@", f"//{role}@", there["core"]["dsn"])
        settings.SOURCES = {"core": there["core"] | {"dsn": dsn}}
        SourceState.objects.update(inspected_at=None)
        why = f"The role {role} may not read eventcore_subscription_versions or eventcore_events: GRANT SELECT ON"
        assert sync("core").error.startswith(why)
        settings.SOURCES = there
        assert sync("core").error == ""
    finally:
        core.connection.execute(f"DROP ROLE {role}")


def test_its_lag_is_in_events_of_its_own_type(
    core: EventCore, look: Callable[[], ForeignProjection], settings: Any
) -> None:
    core.save(core.append())
    core.append("Noted")
    core.append()
    core.append()
    row = look()
    assert (row.lag, row.lag_bound) == (2, "")
    assert 115 < (row.delay_seconds or 0) < 600
    assert "no trace" in row.unaccounted["sentence"]
    settings.CONSUMERS = {}
    row = look()
    assert (row.lag, row.delay_seconds) == (None, None)
    assert "event_types" in row.lag_note


def test_no_target_is_missed_for_letters_that_it_never_has(
    core: EventCore, look: Callable[[], ForeignProjection], viewer: Client
) -> None:
    core.save(core.append())
    page = read_html(viewer.get(reverse("projections:foreign", args=[look().pk])))
    assert "EventCore has no table of dead letters." in page
    assert "No dead letter so far." not in page
    # That none is known is not said as if none had failed.
    assert '<h2>Dead letters</h2><p class="n">unknown</p><p class="d">none can be read</p>' in page
    listed = read_html(viewer.get(reverse("projections:projections")))
    assert 'data-label="Letters" class="num">unknown' in listed
    assert "core offers no way to ask for them." in page
    assert "redrive.toml names no target" not in page


def test_the_event_that_it_stands_at_is_named_once(
    core: EventCore, look: Callable[[], ForeignProjection], viewer: Client
) -> None:
    core.save(core.append())
    row = look()
    page = read_html(viewer.get(reverse("projections:foreign", args=[row.pk])))
    assert f"<dt>Stands at</dt><dd><code>{row.last_event_id}</code></dd>" in page
    assert page.count(row.last_event_id) == 1


def test_it_is_stopped_when_nobody_leads_and_events_wait(
    core: EventCore, look: Callable[[], ForeignProjection]
) -> None:
    first = core.append()
    core.save(first)
    row = look()
    # A projector that works in batches comes and goes.
    assert (row.state, row.evidence) == ("unknown", "Nothing waits. Nobody holds its leader lock.")
    second = core.append()
    row = look()
    assert row.state == "stopped"
    assert row.evidence.startswith("Nobody holds its leader lock. 1 event waits, for 2 min")
    core.execute("SET application_name = 'teller'")
    with core.working():
        row = look()
        assert row.state == "stalled"
        assert row.evidence.startswith(
            "teller holds its leader lock. But its checkpoint has not moved for 2 min"
        )
        core.save(second, age=FRESH)
        row = look()
        assert (row.state, row.evidence) == ("running", "teller holds its leader lock. Nothing waits.")


def test_it_is_reset_under_its_own_lock(
    core: EventCore, look: Callable[[], ForeignProjection], reset: Callable[[ForeignProjection], Run]
) -> None:
    first = core.append()
    core.save(first)
    stale = look()
    core.save(core.append())
    assert totals(reset(stale)) == {"refused": 1}
    with core.working():
        assert totals(reset(look())) == {"refused": 1}
    assert core.has_checkpoint()
    assert totals(reset(look())) == {"reset": 1}
    assert not core.has_checkpoint()
    assert look().reset["verdict"] == "waiting"
    # It was held off, so whatever comes back has begun anew.
    core.save(core.append(), age=FRESH)
    assert look().reset["verdict"] == "holds"
