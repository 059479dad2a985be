import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from demo.living import open_shop


class Command(BaseCommand):
    help = "Run the demo shop; `manage.py up` does."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            # It prunes what it sees as its own.
            raise CommandError("The demo shop runs only on the embedded console's own demo database.")
        stopping = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        open_shop(stopping)
