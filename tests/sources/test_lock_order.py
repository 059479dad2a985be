"""Letters are locked before their rows here, by looks as by whoever purges them."""

from collections.abc import Callable
from datetime import timedelta
from threading import Thread

import pytest
from django.db import connection, transaction
from django.utils import timezone

from dlq.models import DeadLetter
from dlq.retention import purge_letters
from sources.models import ForeignRow, OwedWrite, SourceState
from tests.sources.foreign import Foreign
from tests.wait import count_waiting, until

pytestmark = pytest.mark.django_db(transaction=True)
Sync = Callable[..., SourceState]
Do = Callable[..., None]


def test_a_look_at_a_row_that_fails_again_and_the_purge_of_its_letter_are_no_deadlock(
    foreign: Foreign, sync: Sync, do: Do
) -> None:
    [key] = foreign.add()
    sync()
    old = DeadLetter.objects.get()
    do("resolve", old)
    sync()
    foreign.set_status(key, "failed")
    foreign.fail_again(key)
    looks = Thread(target=lambda: (sync(), connection.close()))
    with transaction.atomic():
        DeadLetter.objects.select_for_update().get(pk=old.pk)
        looks.start()
        until(lambda: count_waiting() == 1)
        assert purge_letters(timezone.now() + timedelta(days=1)) == 1
    looks.join()
    assert SourceState.objects.get().error == ""
    new = DeadLetter.objects.get()
    assert (new.status, new.pk == old.pk) == ("failed", False)
    row = ForeignRow.objects.get()
    assert (row.letter_id, row.is_open, OwedWrite.objects.count()) == (new.pk, True, 0)
