import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from demo.living import open_shop
from projections.runtime.clock import SystemClock


class Command(BaseCommand):
    help = "Run the demo shop; `manage.py up` does."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            # It prunes what it sees as its own.
            raise CommandError("The demo shop runs only on the embedded console's own demo database.")
        clock = SystemClock()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: clock.stop())
        open_shop(clock)
