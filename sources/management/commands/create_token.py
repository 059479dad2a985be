from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sources.tokens.operations import TokenError, create_token


class Command(BaseCommand):
    help = "Print a new token with which the named source can report its failures; it is not shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", help="the name under which its failures appear")
        parser.add_argument("--note", default="", help="what the token is for")

    def handle(self, *args: Any, **options: Any) -> None:
        if len(options["note"]) > 200:
            raise CommandError("The note has more than 200 characters.")
        try:
            _, secret = create_token(options["source"], note=options["note"], actor="command line")
        except TokenError as error:
            raise CommandError(str(error)) from None
        # Alone on its line, so that a script can take it.
        self.stdout.write(secret)
