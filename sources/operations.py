"""What people do with sources."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.db.models.functions import Now

from dashboard import audit
from dashboard.words import agree, counted
from sources.inspection import why_not
from sources.models import OwedRelease, SourceState
from sources.orphans import find_orphans
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
        # Until that look it is not up to date, and the page says so.
        state.cursor = {"is_behind": True}
        state.save(update_fields=["cursor"])


def release_rows(name: str, *, until: datetime, confirmed: int, actor: audit.Actor, reason: str) -> None:
    """Have the next look write an open word to rows that nobody tries: exactly those that were confirmed."""
    with audit.action("source.release", actor=actor, subject=name, reason=reason) as entry:
        orphans = find_orphans(name, until=until)
        count = orphans.count if orphans else 0
        if why_not(name, "writes_status"):
            raise SourceRefused(why_not(name, "writes_status"))
        if orphans is None or count != confirmed:
            were, stand = counted(confirmed, "row was", "rows were"), agree(count, "stands", "stand")
            raise SourceRefused(f"{were} confirmed, and {count:,} still {stand} so; look again.")
        try:
            with transaction.atomic():
                OwedRelease.objects.bulk_create(
                    OwedRelease(source=name, key=row.key, retrying_since=row.retrying_since, actor=str(actor))
                    for row in orphans.rows
                )
        except IntegrityError:
            raise SourceRefused("Somebody else has just released them.") from None
        entry.details = {"count": count, "from": orphans.word, "to": orphans.released}
