"""Batch handlers, beside handlers and beside each other: each gets the events of its types, and no others."""

from collections.abc import Callable
from typing import ClassVar

import pytest

from projections import definition
from projections.declared import sync_declared
from projections.models import Projection
from projections.store import NewEvent, StoredEvent, append


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[int]]]:
    """What the handlers of `mixed` were given, in order."""
    monkeypatch.setattr(definition, "_registered", {})

    class Mixed(definition.Projector):
        name = "mixed"
        calls: ClassVar[list[tuple[str, list[int]]]] = []

        @definition.handles("Noted")
        def note(self, event: StoredEvent) -> None:
            self.calls.append(("note", [event.position]))

        @definition.handles_batch("Paid")
        def pay(self, events: list[StoredEvent]) -> None:
            self.calls.append(("pay", [event.position for event in events]))

        @definition.handles_batch("Refunded")
        def refund(self, events: list[StoredEvent]) -> None:
            self.calls.append(("refund", [event.position for event in events]))

    definition.register(Mixed)
    sync_declared()
    return Mixed.calls


def test_each_handler_gets_the_events_of_its_types_in_order(
    handled: list[tuple[str, list[int]]], work: Callable[..., Projection]
) -> None:
    types = ("Paid", "Paid", "Noted", "Other", "Paid", "Refunded", "Refunded", "Noted")
    append("a", [NewEvent(event_type, {}) for event_type in types])
    assert work("mixed").position == len(types)
    assert handled == [
        ("pay", [1, 2]),
        ("note", [3]),
        ("pay", [5]),
        ("refund", [6, 7]),
        ("note", [8]),
    ]
