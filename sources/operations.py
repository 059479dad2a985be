"""What people do with sources."""

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from dashboard import audit
from sources.models import SourceState
from sources.sync.importing import find_import


class SourceRefused(Exception):
    """Nothing was changed; the message says why."""


def import_again(name: str, *, actor: audit.Actor) -> None:
    """Have the next look begin as if it were the first: rows that are known change nothing."""
    with audit.action("source.import", actor=actor, subject=name), transaction.atomic():
        # Whoever has the lease holds the cursor too, and would write it back.
        free = Q(leased_until=None) | Q(leased_until__lte=Now())
        state = SourceState.objects.select_for_update().filter(free, name=name).first()
        if state is None:
            raise SourceRefused(f"{name} is being looked at this moment; try again.")
        run = find_import(state.cursor)
        if run is None or run.is_active:
            raise SourceRefused(f"{name} has no import that ended before its time.")
        state.cursor = {}
        state.save(update_fields=["cursor"])
