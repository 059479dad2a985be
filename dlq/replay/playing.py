"""The events of a slice, and handling them: hopefully, all at once; or carefully, with a savepoint each."""

from datetime import datetime, timedelta

from django.utils import timezone

from breakers.api import BreakerOpen
from dashboard.models import Run
from dlq.models import Override
from dlq.models.words import UNSETTLED
from dlq.overrides import find_overrides
from dlq.replay.outcomes import Results
from dlq.replay.rows import Ahead, Row
from dlq.replay.took import Stopwatch
from dlq.replay.watch import NoWatch, Watch
from projections.api import Alarm, Projector, StoredEvent, handle_all, read_at, try_once

# A breaker that somebody holds open with no end is asked again after this long; so is a rebuild whether it is over.
ASK_AGAIN = timedelta(seconds=30)

Pair = tuple[Row, StoredEvent]


def find_events(
    rows: list[Row], projector: Projector, checkpoint: int, ahead: Ahead, results: Results
) -> list[Pair]:
    """The events that may be tried, as somebody may have replaced them; a letter that cannot holds up its sequence."""
    stored = read_at(row.position for row in rows if row.position is not None)
    overrides = find_overrides(projector.name, (row.event_id for row in rows), source=rows[0].source)
    pairs = []
    for row in rows:
        event = stored.get(row.position or 0)
        override = overrides.get(row.event_id)
        if row.status not in UNSETTLED:
            results.skip(row, f"{row.status} meanwhile")
            continue
        if event is None or str(event.event_id) != row.event_id:
            results.skip(row, "not in the event store")
        elif override and override.kind != Override.Kind.REPLACED:
            results.skip(row, f"{override.kind} by {override.actor}")
        elif event.position > checkpoint:
            results.hold(row, "not yet reached by the projection")
        else:
            pairs.append((row, event._replace(data=override.payload) if override else event))
            continue
        ahead.add(row)
    return pairs


def play_hopefully(
    projector: Projector, pairs: list[Pair], ahead: Ahead, results: Results, alarm: Alarm
) -> None:
    """Without savepoints: whatever is raised undoes the slice."""
    playable = [(row, event) for row, event in pairs if not hold_back(row, ahead, results)]
    # In the order of the store, which is also that of each stream.
    handle_all(projector, sorted((event for _, event in playable), key=lambda event: event.position), alarm)
    for row, _ in playable:
        results.succeed(row)


def play_carefully(
    run: Run,
    projector: Projector,
    pairs: list[Pair],
    ahead: Ahead,
    results: Results,
    alarm: Alarm,
    watch: Watch | NoWatch,
    stop_after: int | None,
) -> None:
    """One by one, each undone alone; a breaker that refuses ends the slice before its event, and so do failures."""
    for row, event in pairs:
        if hold_back(row, ahead, results):
            continue
        stopwatch = Stopwatch()
        with watch.trying(row.item_id):
            error = try_once(projector, event, alarm)
        if error is None:
            results.succeed(row)
        elif isinstance(error, BreakerOpen):
            results.wait_until = until_breaker(error)
            return
        else:
            results.fail(row, error, payload=event.data, took=stopwatch.stop(), run=run)
            ahead.add(row)
            if len(results.failures) == stop_after:
                return


def hold_back(row: Row, ahead: Ahead, results: Results) -> bool:
    earlier = ahead.find(row)
    if earlier:
        results.hold_behind(row, earlier)
    return bool(earlier)


def until_breaker(error: BreakerOpen) -> datetime:
    wait = ASK_AGAIN if error.retry_after is None else timedelta(seconds=error.retry_after)
    return timezone.now() + wait
