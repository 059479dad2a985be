"""Processes of several versions of the code, as while a new one is rolled out."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from projections.declared import sync_declared
from projections.definition import find_projector
from projections.models import Projection
from projections.runtime.processes import list_consumed
from projections.store import StoredEvent
from tests.shop.projections import Applier, Letters

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


def test_nor_with_the_batch_that_it_has_in_hand_when_newer_code_is_installed(
    pay: Pay, work: Work, applied: Callable[[str], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = {**Letters.handlers, "Noted": "apply"}

    def install() -> None:
        Projection.objects.filter(name="letters").update(event_types=sorted(newer))
        connection.close()

    def handle(projector: Letters, event: StoredEvent) -> None:
        installer = threading.Thread(target=install)
        installer.start()
        installer.join()
        Applier.handle(projector, event)

    pay("a", 1)
    pay("b", 2, event_type="Noted")
    with monkeypatch.context() as patch:
        patch.setattr(Letters, "handle", handle)
        row = work("letters")
    assert (row.position, row.trial_by, row.block, applied("letters")) == (0, None, "", [])
    monkeypatch.setattr(Letters, "handlers", newer)
    monkeypatch.setattr(Letters, "event_types", sorted(newer))
    assert work("letters").position == 2
    assert applied("letters") == [1, 2]
