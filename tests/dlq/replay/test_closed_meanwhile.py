"""What somebody closes while a target is sent it."""

import threading
import time
from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from dashboard.models import Lane, Run
from dlq.models import Attempt, DeadLetter
from tests.dlq.replay.conftest import run_all, totals
from tests.dlq.replay.server import Received
from tests.dlq.replay.test_outside import letters, server
from tests.wait import count_waiting, until

__all__ = ["server"]

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., list[DeadLetter]]
Start = Callable[..., Run]


@pytest.mark.parametrize(("how", "outcome"), [(200, "succeeded"), (500, "new_error")])
def test_what_is_closed_while_it_is_sent_stays_as_it_was_closed(
    server: Received, make_letters: Make, start: Start, how: int, outcome: str
) -> None:
    locked = threading.Event()

    def close() -> None:
        DeadLetter.objects.update(status="discarded", closed_by="olga", closed_at=Now())
        connection.close()
        threading.Thread(target=keep_lane).start()
        locked.wait()

    def keep_lane() -> None:
        """Whoever records the answer waits for longer than the answer took."""
        with transaction.atomic():
            list(Lane.objects.select_for_update())
            locked.set()
            closed = time.monotonic()
            until(lambda: count_waiting() and time.monotonic() - closed > 0.3)
        connection.close()

    letters(make_letters, how)
    run = start()
    server.meanwhile = close
    assert totals(run_all(run)) == {outcome: 1}
    letter = DeadLetter.objects.get()
    assert (letter.status, letter.closed_by) == ("discarded", "olga")
    assert Attempt.objects.filter(run=run).count() == 1
