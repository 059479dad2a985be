"""Keeps the projections' rows in step with what the installed apps declare."""

from typing import Any

from projections.definition import Projector, list_projectors
from projections.lag import recount_idle
from projections.models import NATIVE, Projection
from projections.policies import describe, longest_retry_seconds
from projections.store import get_tail

COLUMNS = ["event_types", "policy", "criticality", "effects", "grace_seconds", "runbook"]


def sync_declared(**_: Any) -> None:
    """Add a row for each new projection, at the start of the store, and bring the others' declarations up to date."""
    tail = get_tail()
    Projection.objects.bulk_create(
        [make_row(projector, tail) for projector in list_projectors()],
        update_conflicts=True,
        unique_fields=["source", "name"],
        update_fields=COLUMNS,
    )
    recount_idle()


def make_row(projector: Projector, tail: int = 0) -> Projection:
    return Projection(
        source=NATIVE,
        name=projector.name,
        event_types=projector.event_types,
        policy=describe(projector.policy),
        criticality=projector.criticality,
        effects=projector.effects,
        grace_seconds=longest_retry_seconds(projector.policy),
        runbook=projector.runbook,
        position=tail,
        accounting_from=tail,
    )
