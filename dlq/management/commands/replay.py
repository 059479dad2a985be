from argparse import BooleanOptionalAction
from getpass import getuser
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.models import Run
from dlq.filters import LetterFilter
from dlq.models import FailureGroup
from dlq.operations import select_failed, start_replay
from dlq.operations.errors import OperationError
from dlq.queries.replay import ReplayPreview, preview_replay
from dlq.replay.options import LANES, ReplayOptions
from dlq.selection import Selection, SelectionError, select_group, select_ids, select_matching

LEFT_OUT = {
    "no_target": "have a consumer without a target",
    "erased": "were erased",
    "poison": "are poison (take them with --force and a --reason)",
    "not_offered": "are not offered for replay (take them with --force and a --reason)",
    "behind": "stand behind one that is left out",
    "recent": "were taken by their target a moment ago, which would drop them",
}


class Command(BaseCommand):
    help = "Replay letters: says what would be touched, asks, and starts a run."

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--letter", type=int, action="append", help="a letter's id; may be repeated")
        which.add_argument("--group", type=int, help="all open letters of a failure group")
        which.add_argument("--failed-in-run", type=int, help="what failed or was held in a run")
        which.add_argument(
            "--filter", action="append", metavar="NAME=VALUE", help="as on the letters page; may be repeated"
        )
        parser.add_argument(
            "--canary", action=BooleanOptionalAction, default=True, help="1, 10, 100, the rest"
        )
        parser.add_argument("--pace", type=int, help="letters a second")
        parser.add_argument("--stop-after", type=int, default=5, help="failures that pause it; 0: none")
        parser.add_argument("--lanes", type=int, choices=LANES, default=max(LANES), help="side by side")
        parser.add_argument("--dry-run", action="store_true", help="do it and undo it")
        parser.add_argument("--force", action="store_true", help="poison too")
        parser.add_argument("--with-earlier", action="store_true", help="also what stands before them")
        parser.add_argument("--acknowledge", action="store_true", help="later events were handled already")
        parser.add_argument("--reason", default="", help="for the audit trail")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, **given: Any) -> None:
        options = ReplayOptions(
            canary=given["canary"] and not given["dry_run"],
            pace=given["pace"],
            stop_after=given["stop_after"] or None,
            dry_run=given["dry_run"],
            force=given["force"],
            lanes=given["lanes"],
        )
        try:
            selection = read_selection(given)
            found = preview_replay(selection, force=options.force, with_earlier=given["with_earlier"])
            self.describe(found)
            if not found.count or not (given["yes"] or self.is_confirmed(found)):
                self.stdout.write("Nothing was started.")
                return
            run = start_replay(
                selection,
                confirmed=found.count,
                options=options,
                actor=f"{getuser()} (command line)",
                request_key=uuid4(),
                reason=given["reason"],
                with_earlier=given["with_earlier"],
                acknowledged=given["acknowledge"],
            )
        except (OperationError, SelectionError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"Run {run.pk}: {run.title}. Workers do it; see its page.")

    def describe(self, found: ReplayPreview) -> None:
        self.stdout.write(f"{found.title}: {found.sequence_count:,} sequences, in order.")
        if found.follower_count:
            self.stdout.write(f"{found.follower_count:,} of them are followers that come along.")
        for reason, number in found.left_out.items():
            self.stdout.write(f"Left out: {number:,} that {LEFT_OUT[reason]}.")
        if found.in_run_count:
            runs = ", ".join(map(str, found.run_ids))
            self.stdout.write(f"Left out: {found.in_run_count:,} that are in run {runs}.")
        if found.earlier_count:
            self.stdout.write(
                f"{found.earlier_count:,} open letters stand before them; take them --with-earlier."
            )
        if found.later_count:
            self.stdout.write(f"{found.later_count:,} later events were handled already; --acknowledge it.")
        for health in found.health:
            self.stdout.write(health.sentence)

    def is_confirmed(self, found: ReplayPreview) -> bool:
        return input(f"Effects cannot be undone. Type {found.count} to start: ").strip() == str(found.count)


def read_selection(given: dict[str, Any]) -> Selection:
    if given["letter"]:
        return select_ids(given["letter"])
    if given["group"]:
        group = FailureGroup.objects.filter(pk=given["group"]).first()
        if group is None:
            raise CommandError(f"There is no failure group {given['group']}.")
        return select_group(group)
    if given["failed_in_run"]:
        run = Run.objects.filter(pk=given["failed_in_run"], kind="replay").first()
        if run is None:
            raise CommandError(f"There is no replay {given['failed_in_run']}.")
        return select_failed(run)
    parts = [part.partition("=") for part in given["filter"]]
    unknown = {name for name, _, _ in parts} - set(LetterFilter.base_fields)
    # On this machine nobody is signed in; whoever may run commands here may see everything anyway.
    form = LetterFilter({name: value for name, _, value in parts}, user=User(is_superuser=True))
    if unknown or not form.is_valid():
        raise CommandError(f"The filter is wrong: {', '.join(unknown)} {form.errors.as_text()}")
    return select_matching(form)
