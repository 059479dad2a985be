import os
import signal
from typing import Any

from celery.signals import before_task_publish
from django.apps import AppConfig


class TallyConfig(AppConfig):
    """The smallest run kind there is, to prove the base of runs with."""

    name = "tests.tally"
    label = "tally"

    def ready(self) -> None:
        if os.environ.get("TALLY_DIE_BEFORE_DISPATCH"):
            before_task_publish.connect(die)


def die(**_: Any) -> None:
    """The transaction is committed, the message not yet sent, the answer not yet given."""
    os.kill(os.getpid(), signal.SIGKILL)
