"""One look at one source, by whichever process gets hold of it."""

import logging
import time
from datetime import timedelta

from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection
from django.utils import timezone

from dashboard.words import say_error
from sources.base import Letters, SourceError, Visit
from sources.checkpoints.contract import Checkpoints
from sources.inspection import as_dict, why_nothing
from sources.keeping import list_keepers
from sources.models import SourceState
from sources.owners import why_not_read
from sources.registry import find_source
from sources.sync import importing, looking, releasing, writing
from sources.sync.hold import SourceHold, SourceLostError, claim

logger = logging.getLogger(__name__)

# Schema and role are looked at again after this long, and after every failure.
INSPECT_AFTER = timedelta(minutes=1)
# Checkpoints are shown and not acted on; reading them costs more than a look at letters that finds nothing new.
CHECKPOINT_SECONDS = 5
FIND_WORK = """
SELECT EXISTS (SELECT FROM sources_owedwrite WHERE source = %(source)s),
       EXISTS (SELECT FROM sources_owedrelease WHERE source = %(source)s),
       EXISTS (SELECT FROM sources_foreignrow WHERE source = %(source)s AND watched_until > now())
"""


def sync_source(name: str) -> None:
    """Look at a source; what goes wrong with it is noted there and troubles nobody else."""
    source = find_source(name)
    if source is None:
        return
    words = source.words
    hold = claim(name, kind=source.kind, takes_writes=bool(words and words.resolved))
    if hold is None:
        return
    try:
        with source.visit() as visit:
            inspect(hold, visit)
            trouble = sync_letters(hold, visit.letters) if visit.letters else None
            if visit.checkpoints:
                sync_checkpoints(hold, visit.checkpoints)
        hold.end(trouble)
    except SourceError as error:
        logger.info("source %s: %s", name, error)
        hold.fail(error)
    except SourceLostError as error:
        logger.warning("source %s: stopped, %s", name, error)
    except SoftTimeLimitExceeded:
        hold.fail(SourceError("It stopped answering in the middle of a look.", permanent=False))
    except Exception as error:
        # Of our own making; the page is to say so, or the source would only seem to be silent.
        hold.fail(SourceError(f"The console failed: {say_error(error)}"[:500], permanent=True))
        raise


def inspect(hold: SourceHold, visit: Visit) -> None:
    """Look at schema and role from time to time, and stop here if nothing can be read."""
    now, before = timezone.now(), hold.inspected_at
    if before is None or now - before > INSPECT_AFTER:
        if why := why_not_read(hold.name):
            raise SourceError(why, permanent=True)
        hold.inspection = as_dict(visit.inspect())
        SourceState.objects.filter(name=hold.name).update(inspection=hold.inspection, inspected_at=now)
    if why := why_nothing(hold.inspection, visit):
        raise SourceError(why, permanent=True)


def sync_letters(hold: SourceHold, letters: Letters) -> SourceError | None:
    """What could not be written stays owed and is told; it must not keep anything from being read."""
    trouble = None
    owes_writes, owes_releases, is_watched = find_work(hold.name)
    if (owes_writes or owes_releases) and not hold.inspection["why_not"]["writes_status"]:
        for send in (writing.send_owed, releasing.send_releases):
            try:
                trouble = send(hold, letters) or trouble
            except SourceError as error:
                trouble = error
    importing.begin(hold, letters)
    looking.read_new(hold, letters)
    if is_watched:
        looking.look_at_watched(hold, letters)
    # What the import has not come to would all be news to the sweep.
    if importing.is_over(hold.cursor):
        looking.sweep(hold, letters)
    return trouble


def find_work(source: str) -> tuple[bool, bool, bool]:
    """Whether writes are owed, releases are, and rows are watched; mostly nothing, and that is all that it costs."""
    with connection.cursor() as cursor:
        cursor.execute(FIND_WORK, {"source": source})
        owes_writes, owes_releases, is_watched = cursor.fetchone()
    return owes_writes, owes_releases, is_watched


def sync_checkpoints(hold: SourceHold, checkpoints: Checkpoints) -> None:
    now = time.time()
    is_due = now - hold.cursor.get("checkpoints_at", 0) >= CHECKPOINT_SECONDS
    if is_due and not hold.inspection["why_not"]["reads_checkpoints"]:
        for keeper in list_keepers():
            try:
                found = keeper.look(hold.name, checkpoints)
            except SourceError:
                # The look fails, and the next goes on with the letters from where this one has come to.
                with hold.recording():
                    pass
                raise
            with hold.recording():
                keeper.keep(hold.name, found)
        hold.cursor["checkpoints_at"] = now
