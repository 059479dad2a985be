"""The search for other libraries' breakers, in the background: SCAN in slices, never KEYS, never while a page waits."""

from django.db import transaction
from django.utils import timezone
from redis import RedisError

from breakers.copying import apply, note_transition
from breakers.foreign.reader import Found, Reader
from breakers.foreign.registry import get_foreign_redis, list_readers
from breakers.models import Breaker, Reading, State, Transition
from dashboard.redis import describe_error

# Keys looked at by one SCAN call, and calls in one slice: a Redis with millions of keys takes several slices.
SCAN_COUNT = 1000
CALLS_PER_SLICE = 200
LONGEST_NAME = 500


def scan() -> None:
    """A slice for every reader; one whose Redis does not answer does not keep the others from theirs."""
    for reader in list_readers().values():
        place = Reading.objects.get_or_create(place=reader.source)[0]
        try:
            scan_slice(reader, place)
            place.error, place.read_at = "", timezone.now()
        except RedisError as error:
            place.error = describe_error(error)
        place.save()
    close_unread()


def scan_slice(reader: Reader, place: Reading) -> None:
    """Go on where the last slice stopped; at the end of a pass, what was not seen in it is gone."""
    client = get_foreign_redis()
    if place.cursor == "0" or place.began_at is None:
        place.cursor, place.began_at = "0", timezone.now()
    for _ in range(CALLS_PER_SLICE):
        cursor, keys = client.scan(int(place.cursor), match=reader.pattern, count=SCAN_COUNT)
        save(reader, reader.read(client, [key for key in keys if is_usable(key)]))
        place.cursor = str(cursor)
        if place.cursor == "0":
            close_gone(reader, place)
            return


def is_usable(key: str) -> bool:
    return len(key) <= LONGEST_NAME and "\0" not in key


def save(reader: Reader, found: list[Found]) -> None:
    """Write what was found; a breaker whose state has changed since the last time gets a transition."""
    if not found:
        return
    by_name = {one.name: one for one in found}
    now = timezone.now()
    with transaction.atomic():
        Breaker.objects.bulk_create(
            [Breaker(source=reader.source, name=name) for name in sorted(by_name)], ignore_conflicts=True
        )
        known = Breaker.objects.filter(source=reader.source, name__in=by_name)
        rows = list(known.order_by("name").select_for_update())
        transitions = []
        for row in rows:
            one = by_name[row.name]
            if row.state != one.state:
                at = (one.state == State.OPEN and one.opened_at) or now
                transitions.append(
                    Transition(
                        breaker=row, at=at, from_state=row.state, to_state=one.state, cause="seen in Redis"
                    )
                )
                apply(row, one.state, at)
            row.failure_count, row.retry_at, row.seen_at = one.failure_count, one.retry_at, now
        Transition.objects.bulk_create(transitions)
        Breaker.objects.bulk_update(
            rows, ["state", "changed_at", "left_closed_at", "failure_count", "retry_at", "seen_at"]
        )


def close_unread() -> None:
    """What a reader found that the settings no longer name is nobody's concern any more."""
    sources = [Breaker.OURS, *list_readers()]
    for row in Breaker.objects.exclude(source__in=sources).exclude(state=State.CLOSED):
        note_transition(row, State.CLOSED, timezone.now(), Transition.NO_LONGER_READ)


def close_gone(reader: Reader, place: Reading) -> None:
    gone = Breaker.objects.filter(source=reader.source, seen_at__lt=place.began_at).exclude(
        state=State.CLOSED
    )
    for row in gone:
        note_transition(row, State.CLOSED, timezone.now(), "key gone")
