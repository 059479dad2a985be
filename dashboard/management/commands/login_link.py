from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.login_links import LinksUnavailableError, create_link


class Command(BaseCommand):
    help = (
        "Print a link that signs the local administrator in once, within ten minutes (embedded console only)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--base-url", default="http://127.0.0.1:8000", help="where the console answers")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(create_link(options["base_url"]))
        except LinksUnavailableError as error:
            raise CommandError(str(error)) from None
