from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.login_links import LinksUnavailableError, create_link


class Command(BaseCommand):
    help = (
        "Print a link that signs the local administrator in once, within ten minutes (embedded console only)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--base-url", help="where the console answers; default: where `up` says it does")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(create_link(options["base_url"] or find_console()))
        except LinksUnavailableError as error:
            raise CommandError(str(error)) from None


def find_console() -> str:
    """The address that `up` wrote down; its default if it did not."""
    running = settings.DATA_DIR / "running"
    text = running.read_text() if running.exists() else ""
    return text.rpartition(" ")[2].strip() if "http" in text else "http://127.0.0.1:8000"
