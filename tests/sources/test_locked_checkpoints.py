"""Checkpoints that do not answer keep nobody from following the letters beside them."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from dlq.models import DeadLetter
from sources.models import SourceState
from sources.sync import hold, looking
from sources.sync.sync import sync_source
from tests.sources.keepers import RESTED, EventsourcePy
from tests.wait import until


def test_a_sweep_goes_on_while_checkpoints_are_locked(
    bank: EventsourcePy,
    sync: Callable[..., SourceState],
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def look() -> bool:
        SourceState.objects.update(next_at=None)
        sync_source("bank")
        assert SourceState.objects.get().error == "Somebody holds a lock that did not come free in time."
        return DeadLetter.objects.filter(resolution="at_source").exists()

    settings.SOURCES["bank"]["timeout_seconds"] = 0.1
    for _ in range(5):
        bank.add_letter(bank.append(), age=RESTED)
    sync("bank")
    bank.execute("UPDATE dead_letter_queue SET status = 'resolved' WHERE id = 5")
    # Time for a row or two, so that no look comes to the last one.
    monkeypatch.setattr(looking, "SWEEP_SIZE", 1)
    monkeypatch.setattr(hold, "STAGE_SECONDS", 0.001)
    with psycopg.connect(bank.dsn) as owner:
        owner.execute("LOCK events")
        for state in SourceState.objects.all():
            del state.cursor["checkpoints_at"], state.cursor["swept_at"], state.cursor["sweep_seconds"]
            state.save()
        until(look)
