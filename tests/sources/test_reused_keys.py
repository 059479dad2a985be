"""A row whose key belongs to another event now: its new letter has it, and the old one is not left open for ever."""

from collections.abc import Callable
from threading import Thread
from uuid import uuid4

import pytest
from django.db import connection, transaction

from dlq.models import DeadLetter
from sources.models import ForeignRow, MovedRow, OwedWrite, SourceState
from tests.sources.foreign import Foreign
from tests.wait import count_waiting, until

pytestmark = pytest.mark.django_db(transaction=True)
Sync = Callable[..., SourceState]
Do = Callable[..., None]

TAKE = {
    "eventsource-py": """UPDATE dead_letter_queue SET event_id = %(event_id)s, last_failed_at = clock_timestamp()
        WHERE id = %(key)s""",
    "platform-services": """UPDATE dlq SET event_id = %(event_id)s, failed_at = clock_timestamp()
        WHERE dlq_id = %(key)s""",
}


def give_to_another(foreign: Foreign, key: str, event_id: str | None = None) -> None:
    foreign.execute(TAKE[foreign.kind], key=key, event_id=event_id or str(uuid4()))


def test_a_key_that_is_used_again_belongs_to_the_new_letter_and_the_old_one_is_closed(
    foreign: Foreign, sync: Sync, do: Do
) -> None:
    [key] = foreign.add()
    sync()
    foreign.execute("TRUNCATE dead_letter_queue RESTART IDENTITY")
    assert foreign.execute("SELECT setval('dead_letter_queue_id_seq', %(key)s::bigint, false)", key=key)
    assert foreign.add() == [key]
    sync()
    old, new = DeadLetter.objects.order_by("pk")
    assert ForeignRow.objects.get().letter_id == new.pk
    assert (old.status, old.resolution, old.closed_by) == ("resolved", "at_source", "orders")
    assert old.close_reason == "Its row at orders belongs to another letter now."
    assert (new.status, OwedWrite.objects.count()) == ("failed", 0)
    do("resolve", new)
    sync()
    assert foreign.get_status(key) == ("resolved", "alice")


def test_a_letter_with_another_open_row_stays_open(make_foreign: Callable[..., Foreign], sync: Sync) -> None:
    """This table has a row for each failure, so one event may have many."""
    foreign, event_id = make_foreign("platform-services"), str(uuid4())
    first, second = foreign.add(2, event_id=event_id)
    sync()
    give_to_another(foreign, first)
    sync()
    old = DeadLetter.objects.get(event_id=event_id)
    assert (DeadLetter.objects.count(), old.status) == (2, "failed")
    foreign.set_status(second, "replayed")
    sync()
    old.refresh_from_db()
    assert old.resolution == "at_source"


def test_two_events_that_change_places_stay_open(foreign: Foreign, sync: Sync) -> None:
    first, second = foreign.add(2)
    sync()
    one, other = (DeadLetter.objects.get(source_key=key).event_id for key in (first, second))
    give_to_another(foreign, first)
    give_to_another(foreign, second, one)
    give_to_another(foreign, first, other)
    sync()
    assert set(DeadLetter.objects.values_list("event_id", "status")) == {(one, "failed"), (other, "failed")}


def test_what_somebody_did_with_the_old_letter_stays_and_they_are_told(
    foreign: Foreign, sync: Sync, do: Do
) -> None:
    [key] = foreign.add()
    sync()
    old = DeadLetter.objects.get()
    do("discard", old)
    give_to_another(foreign, key)
    sync()
    old.refresh_from_db()
    assert (old.status, old.closed_by) == ("discarded", "alice")
    assert [moved.letter_id for moved in MovedRow.objects.all()] == [old.pk]
    assert foreign.get_status(key)[0] == "failed"


def test_a_letter_that_was_restored_is_not_left_open_when_its_row_is_given_away(
    foreign: Foreign, sync: Sync, do: Do
) -> None:
    [key] = foreign.add()
    sync()
    old = DeadLetter.objects.get()
    do("resolve", old)
    sync()
    do("restore", old)
    give_to_another(foreign, key)
    foreign.set_status(key, "failed")
    sync()
    old.refresh_from_db()
    assert (old.status, old.resolution) == ("resolved", "at_source")
    assert DeadLetter.objects.exclude(pk=old.pk).get().status == "failed"


def test_a_look_and_somebody_who_has_the_old_letter_never_wait_for_each_other(
    foreign: Foreign, sync: Sync
) -> None:
    """All lock letters in the order of their ids: the old one first, here, and then the one that fails again."""
    foreign.add(2)
    sync()
    old, known = DeadLetter.objects.order_by("pk")
    give_to_another(foreign, old.source_key)
    foreign.fail_again(known.source_key)
    looks = Thread(target=lambda: (sync(), connection.close()))
    with transaction.atomic():
        DeadLetter.objects.select_for_update().get(pk=old.pk)
        looks.start()
        until(lambda: count_waiting() == 1)
        DeadLetter.objects.select_for_update().get(pk=known.pk)
    looks.join()
    assert SourceState.objects.get().error == ""
    old.refresh_from_db()
    known.refresh_from_db()
    assert (old.resolution, known.attempts) == ("at_source", 4)
