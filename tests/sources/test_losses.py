"""What a bounded look at somebody's tables may say, and what it may not."""

from datetime import UTC, datetime, timedelta

from sources.base import Bound
from sources.checkpoints.eventsource_losses import Event, list_suspects
from sources.checkpoints.eventsource_py import read_token
from sources.checkpoints.lags import WINDOW, make_lag

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
