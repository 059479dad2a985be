"""What a bounded look at somebody's tables may say, and what it may not."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from projections.foreign.record import look_for_losses, tell_losses
from sources.checkpoints import eventsource_losses
from sources.checkpoints.contract import Bound
from sources.checkpoints.eventsource_losses import Event, list_suspects
from sources.checkpoints.eventsource_py import read_token
from sources.checkpoints.lags import WINDOW, make_lag
from sources.registry import get_source
from tests.sources.keepers import FRESH, OTHER_TYPE, RESTED, TYPE, EventsourcePy, keeping

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def events(pattern: str, *, seconds: float = 1) -> list[Event]:
    """One event for each letter, `seconds` apart: F failed, anything else left no letter."""
    found = []
    for number, mark in enumerate(pattern):
        at = NOON + timedelta(seconds=number * seconds)
        found.append(Event(number, f"e{number}", "Paid", "s", at, at if mark == "F" else None))
    return found


def suspects(pattern: str, **options: float) -> list[int]:
    return [event.position for event in list_suspects(events(pattern, **options))]


def test_what_follows_five_failures_in_a_row_is_suspect() -> None:
    assert suspects("FFFFF.......") == [5, 6, 7, 8, 9, 10, 11]
    assert suspects("FFFF.FFFF.") == []


def test_after_the_breaker_has_closed_nothing_is() -> None:
    assert suspects("FFFFF...", seconds=12) == [5, 6]
    # A probe that fails opens it anew.
    assert suspects("FFFFF..F.", seconds=12) == [5, 6, 8]


def test_a_lag_says_how_it_is_meant() -> None:
    exact = make_lag(3, NOON, beyond=0, knows_types=True)
    assert (exact.events, exact.bound, exact.since) == (3, Bound.EXACT, NOON)
    far = make_lag(3, NOON, beyond=500, knows_types=True)
    assert (far.events, far.bound) == (3, Bound.AT_LEAST)
    unseen = make_lag(0, None, beyond=500, knows_types=True)
    assert unseen.events is None
    assert f"{WINDOW:,}" in unseen.note
    any_type = make_lag(3, NOON, beyond=500, knows_types=False)
    assert (any_type.events, any_type.bound) == (503, Bound.AT_MOST)
    assert make_lag(0, None, beyond=0, knows_types=False).bound == Bound.EXACT


def test_a_token_of_another_shape_is_no_position() -> None:
    assert read_token('{"s":"pg:orders","k":[18]}') == 18
    for token in (
        "",
        "18",
        "null",
        '{"k":[]}',
        '{"k":["x"]}',
        '{"k":[1,2]}',
        '{"k":7}',
        "[1]",
        '{"k":[true]}',
        '{"k":[9223372036854775808]}',
    ):
        assert read_token(token) is None, token


@pytest.fixture
def bank(db: None, settings: Any) -> Iterator[EventsourcePy]:
    with keeping(EventsourcePy) as bank:
        settings.SOURCES = {"bank": bank.configuration}
        settings.CONSUMERS = {}
        yield bank


def write(bank: EventsourcePy, pattern: str, *, age: str = RESTED) -> list[str]:
    """An event for each mark, at which its checkpoint stands then: F failed, n is of a type that it does not handle."""
    ids = []
    for mark in pattern:
        event_id = bank.append(OTHER_TYPE if mark == "n" else TYPE, age=age)
        if mark == "F":
            bank.add_letter(event_id, age=age)
        ids.append(event_id)
    bank.save(ids[-1])
    return ids


def look(known: dict[str, Any] | None = None) -> dict[str, Any]:
    with get_source("bank").visit() as visit:
        assert visit.checkpoints is not None
        [found] = visit.checkpoints.list_checkpoints()
        return tell_losses(look_for_losses(visit.checkpoints, found), known or {}, timezone.now())


def test_twelve_failures_of_which_five_left_a_letter(bank: EventsourcePy) -> None:
    """As 0.15.1 leaves it behind: seven are neither processed nor dead-lettered, and nothing waits."""
    ids = write(bank, "FFFFF.......")
    found = look()
    assert found["number"] == 7
    assert [named["event_id"] for named in found["named"]] == ids[5:]
    assert [named["position"] for named in found["named"]] == ["6", "7", "8", "9", "10", "11", "12"]


def test_events_of_other_types_and_letters_of_others_count_for_nothing(bank: EventsourcePy) -> None:
    ids = write(bank, "FnFnFnFnF.n")
    assert [named["event_id"] for named in look()["named"]] == [ids[9]]
    bank.execute("TRUNCATE dead_letter_queue")
    for event_id in ids[:9:2]:
        bank.add_letter(event_id, age=RESTED, consumer="somebody else")
    assert look()["number"] == 0


def test_what_came_after_the_breaker_had_closed_is_not_suspect(bank: EventsourcePy) -> None:
    write(bank, "FFFFF")
    write(bank, "..", age=FRESH)
    assert look()["number"] == 0


def test_what_is_after_the_checkpoint_is_not_lost(bank: EventsourcePy) -> None:
    ids = write(bank, "FFFFF..")
    bank.save(ids[5])
    assert [named["event_id"] for named in look()["named"]] == [ids[5]]


def test_the_latest_events_are_looked_at_however_many_letters_there_are(
    bank: EventsourcePy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eventsource_losses, "MOST_EVENTS", 20)
    write(bank, "F........." * 6)
    found = look()
    assert found["number"] == 0
    assert found["sentence"].startswith("In the last 20 events nothing shows that an event was lost.")
    ids = write(bank, "FFFFF..")
    assert [named["event_id"] for named in look()["named"]] == ids[5:]
    monkeypatch.setattr(eventsource_losses, "MOST_EVENTS", 1000)
    bank.execute("DELETE FROM dead_letter_queue WHERE event_id = ANY(%(ids)s::uuid[])", ids=ids)
    assert look()["sentence"].startswith("Nothing shows that an event was lost.")


def test_what_was_found_stays_when_its_letters_are_out_of_sight(
    bank: EventsourcePy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eventsource_losses, "MOST_EVENTS", 20)
    write(bank, "FFFFF..")
    known = look()
    assert known["number"] == 2
    # Only the last of the five is in sight, and then nothing of it.
    for _ in range(2):
        write(bank, "................", age=FRESH)
        assert look()["number"] == 0
        again = look(known)
        assert again | {"looked_at": ""} == known | {"looked_at": ""}
        assert again["looked_at"] > known["looked_at"]
    # News is more than what was known.
    ids = write(bank, "FFFFF.", age=FRESH)
    assert [named["event_id"] for named in look(known)["named"]] == [ids[5]]


def test_what_an_earlier_version_found_without_saying_when_is_no_hindrance(
    bank: EventsourcePy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eventsource_losses, "MOST_EVENTS", 20)
    write(bank, "FFFFF..")
    known = look()
    del known["begins_at"]
    write(bank, "................", age=FRESH)
    # It may have begun before what is looked at now, so it stays.
    assert look(known)["number"] == 2
    # Nobody can tell how old it is.
    assert look({"number": 2, "looked_at": ""})["number"] == 0
    monkeypatch.setattr(eventsource_losses, "MOST_EVENTS", 1000)
    assert look(known)["begins_at"]


def test_what_was_found_goes_when_it_is_seen_to_be_wrong(bank: EventsourcePy) -> None:
    ids = write(bank, "FFFFF..")
    known = look()
    for event_id in ids[5:]:
        bank.add_letter(event_id, age=RESTED)
    assert look(known)["number"] == 0


def test_a_look_that_fails_takes_nothing_back(bank: EventsourcePy) -> None:
    write(bank, "FFFFF..")
    known = look()
    with get_source("bank").visit() as visit:
        assert visit.checkpoints is not None
        [found] = visit.checkpoints.list_checkpoints()
        bank.execute("ALTER TABLE dead_letter_queue RENAME COLUMN first_failed_at TO failed")
        losses = look_for_losses(visit.checkpoints, found)
    again, never = (tell_losses(losses, before, timezone.now()) for before in (known, {}))
    assert (again["number"], again["named"]) == (2, known["named"])
    assert never["number"] is None
    assert never["sentence"].startswith("Lost events could not be looked for.")
