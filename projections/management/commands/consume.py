from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from projections.declared import sync_declared
from projections.definition import find_projector, list_projectors
from projections.runtime.processes import run_parent


class Command(BaseCommand):
    help = "Consume the event store for the named projections, or all; any number of these may run at once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="which projections; without it all")

    def handle(self, *args: Any, **options: Any) -> None:
        known = {projector.name for projector in list_projectors()}
        if unknown := set(options["names"]) - known:
            raise CommandError(
                f"No installed app registers {', '.join(sorted(unknown))}; "
                f"there are: {', '.join(sorted(known)) or 'none. Name your app in REDRIVE_APPS'}."
            )
        sync_declared()
        names = options["names"] or sorted(known)
        run_parent([projector for name in names if (projector := find_projector(name))])
