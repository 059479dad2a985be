"""Processes of several versions of the code, as while a new one is rolled out."""

from collections.abc import Callable

import pytest

from projections.declared import sync_declared
from projections.definition import find_projector
from projections.models import Projection
from projections.runtime.processes import list_consumed
from tests.shop.projections import Letters

Pay = Callable[..., int]
Work = Callable[..., Projection]


def test_an_older_process_does_not_go_past_events_that_newer_code_handles(
    pay: Pay, work: Work, applied: Callable[[str], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pay("a", 1)
    assert work("letters").position == 1
    # Newer code is installed, and this process goes on with the older.
    newer = {**Letters.handlers, "Noted": "apply"}
    with monkeypatch.context() as patch:
        patch.setattr(Letters, "handlers", newer)
        patch.setattr(Letters, "event_types", sorted(newer))
        sync_declared()
    pay("a", 2, event_type="Noted")
    assert work("letters").position == 1
    projector = find_projector("letters")
    assert projector is not None
    assert list_consumed([projector]) == []
    monkeypatch.setattr(Letters, "handlers", newer)
    monkeypatch.setattr(Letters, "event_types", sorted(newer))
    assert work("letters").position == 2
    assert applied("letters") == [1, 2]
    assert list_consumed([projector]) == ["letters"]
