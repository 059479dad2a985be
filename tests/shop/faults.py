"""What handlers do when a test tells them to misbehave."""

import os
import signal
import sys
import time
from contextlib import suppress
from copy import copy

from django.db import IntegrityError, OperationalError, connection

from breakers.api import BreakerOpen
from projections.api import StoredEvent
from tests.shop.models import Fault

ERRORS: dict[str, Exception] = {
    "ValueError": ValueError("amount 17 is not possible"),
    "KeyError": KeyError("currency"),
    "TimeoutError": TimeoutError("the price service did not answer"),
    "DiskFull": type("DiskFull", (Exception,), {})("no space left"),
    "OperationalError": OperationalError("the connection is lost"),
    "breaker": BreakerOpen("prices", 30.0),
}


def misbehave(event: StoredEvent) -> None:
    """Fail as the event's mark says, if a test has said so."""
    mark = event.data.get("mark")
    fault = Fault.objects.filter(mark=mark).first() if mark else None
    if fault is None:
        return
    if fault.how == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault.how == "exit":
        os._exit(1)
    if fault.how == "quit":
        sys.exit("nobody expects this")
    if fault.how == "change":
        event.data.clear()
        raise ERRORS["ValueError"]
    if fault.how == "swallow":
        with suppress(IntegrityError):
            Fault.objects.create(mark=mark)
        return
    if fault.how == "hang":
        time.sleep(3600)
    if fault.how == "slow query":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(3600)")
    # A copy: an error that is raised again drags along where it was raised before.
    raise copy(ERRORS[fault.how])
