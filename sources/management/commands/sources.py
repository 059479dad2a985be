from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sources.base import SourceError
from sources.inspection import as_dict, why_nothing
from sources.owners import why_not_read
from sources.queries import CAPABILITIES
from sources.registry import list_sources


class Command(BaseCommand):
    help = "Connect to the sources that redrive.toml names, and say what was recognised and what the role may do."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("verb", choices=["check"], help="check: look at each and change nothing")
        parser.add_argument("names", nargs="*", help="only these sources")

    def handle(self, *args: Any, **options: Any) -> None:
        sources = {source.name: source for source in list_sources()}
        unknown = [name for name in options["names"] if name not in sources]
        if unknown:
            raise CommandError(f"redrive.toml names no source {', '.join(unknown)}.")
        if not sources:
            raise CommandError("redrive.toml names no source; docs/sources.md says how.")
        wrong = []
        for name in options["names"] or sources:
            try:
                if why := why_not_read(name):
                    raise SourceError(why, permanent=True)
                with sources[name].visit() as visit:
                    found = as_dict(visit.inspect())
                    why_nothing_is_read = why_nothing(found, visit)
            except SourceError as error:
                self.stdout.write(f"{name} ({sources[name].kind}): {error}")
                wrong.append(name)
                continue
            self.stdout.write(f"{name} ({sources[name].kind})")
            for sentence in [*found["recognised"], *found["role"]]:
                self.stdout.write(f"  {sentence}")
            for capability, (label, _) in CAPABILITIES.items():
                why_not = found["why_not"][capability]
                self.stdout.write(f"  {label}: {'no. ' + why_not if why_not else 'yes.'}")
            if why_nothing_is_read:
                wrong.append(name)
        if wrong:
            raise CommandError(f"Nothing can be read from {', '.join(wrong)}.")
