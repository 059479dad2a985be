from argparse import ArgumentTypeError, BooleanOptionalAction
from collections.abc import Callable, Iterable
from datetime import datetime
from getpass import getuser
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from dashboard.models import Run
from dlq.filters import LetterFilter
from dlq.management.sentences import describe_events, describe_letters
from dlq.models import FailureGroup
from dlq.operations import find_replay, select_failed, start_replay, start_reprocess
from dlq.operations.errors import OperationError
from dlq.queries.replay import preview_replay
from dlq.queries.reprocess import preview_reprocess
from dlq.replay.options import LANES, MOST_FAILURES, MOST_PACE, ReplayOptions
from dlq.reprocess.choice import EventChoice
from dlq.selection import Selection, SelectionError, select_group, select_ids, select_matching
from projections.api import PickError

MOST_ID = 2**63 - 1


class Command(BaseCommand):
    help = "Replay letters, or events of the store: says what would be touched, asks, and starts a run."

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument(
            "--letter", type=number(1, MOST_ID), action="append", help="a letter's id; may be repeated"
        )
        which.add_argument("--group", type=number(1, MOST_ID), help="all open letters of a failure group")
        which.add_argument(
            "--failed-in-run", type=number(1, MOST_ID), help="what failed or was held in a run"
        )
        which.add_argument(
            "--filter", action="append", metavar="NAME=VALUE", help="as on the letters page; may be repeated"
        )
        which.add_argument(
            "--events", metavar="PROJECTION", help="events of the store that it has handled before"
        )
        parser.add_argument("--stream", default="", help="with --events: only of this stream (aggregate)")
        parser.add_argument(
            "--type", action="append", help="with --events: only of this type; may be repeated"
        )
        parser.add_argument("--since", help="with --events: recorded from this time on, as 2026-11-01T12:00")
        parser.add_argument("--until", help="with --events: recorded until this time")
        parser.add_argument(
            "--canary", action=BooleanOptionalAction, default=True, help="1, 10, 100, the rest"
        )
        parser.add_argument("--pace", type=number(1, MOST_PACE), help="letters a second")
        parser.add_argument(
            "--stop-after", type=number(0, MOST_FAILURES), default=5, help="failures that pause it; 0: none"
        )
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
        common = {
            "options": options,
            "actor": f"{getuser()} (command line)",
            "request_key": uuid4(),
            "reason": given["reason"],
            "acknowledged": given["acknowledge"],
        }
        try:
            run = self.replay_events(given, common) if given["events"] else self.replay_letters(given, common)
        except (OperationError, SelectionError, PickError) as error:
            raise CommandError(str(error)) from None
        if run is None:
            self.stdout.write("Nothing was started.")
        else:
            self.stdout.write(f"Run {run.pk}: {run.title}. Workers do it; see its page.")

    def replay_letters(self, given: dict[str, Any], common: dict[str, Any]) -> Run | None:
        """None: there is nothing to do, or it was not confirmed."""
        selection, extent = read_selection(given), {"with_earlier": given["with_earlier"]}
        found = preview_replay(selection, force=given["force"], **extent)
        if not self.is_confirmed(describe_letters(found, force=given["force"]), found.count, given):
            return None
        return start_replay(selection, confirmed=found.count, **extent, **common)

    def replay_events(self, given: dict[str, Any], common: dict[str, Any]) -> Run | None:
        choice = read_choice(given)
        found = preview_reprocess(choice)
        if not self.is_confirmed(describe_events(found), found.count, given):
            return None
        return start_reprocess(choice, watermark=found.watermark, confirmed=found.count, **common)

    def is_confirmed(self, sentences: Iterable[str], count: int, given: dict[str, Any]) -> bool:
        for sentence in sentences:
            self.stdout.write(sentence)
        if not count or given["yes"]:
            return bool(count)
        try:
            return input(f"Effects cannot be undone. Type {count} to start: ").strip() == str(count)
        except EOFError:
            raise CommandError("Nobody is here to answer; with --yes nobody is asked.") from None


def number(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise ArgumentTypeError(f"{text!r} is not a whole number from {least:,} to {most:,}")
        return int(text)

    return read


def read_selection(given: dict[str, Any]) -> Selection:
    if given["letter"]:
        return select_ids(given["letter"])
    if given["group"]:
        group = FailureGroup.objects.filter(pk=given["group"]).first()
        if group is None:
            raise CommandError(f"There is no failure group {given['group']}.")
        return select_group(group)
    if given["failed_in_run"]:
        run = find_replay(given["failed_in_run"])
        if run is None:
            raise CommandError(f"There is no replay {given['failed_in_run']}.")
        return select_failed(run)
    parts = [part.partition("=") for part in given["filter"]]
    unknown = {name for name, _, _ in parts} - set(LetterFilter.base_fields)
    # On this machine nobody is signed in; whoever may run commands here may see everything anyway.
    form = LetterFilter({name: value for name, _, value in parts}, user=User(is_superuser=True))
    if unknown or not form.is_valid():
        known = f"There is no {', '.join(sorted(unknown))}. " if unknown else ""
        raise CommandError(f"The filter is wrong. {known}{form.problem}".rstrip())
    return select_matching(form)


def read_choice(given: dict[str, Any]) -> EventChoice:
    return EventChoice(
        given["events"],
        types=tuple(given["type"] or ()),
        stream=given["stream"],
        since=read_time("since", given["since"]),
        until=read_time("until", given["until"]),
    )


def read_time(name: str, text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        at = parse_datetime(text)
    except ValueError:
        at = None
    if at is None:
        raise CommandError(f"--{name} is {text!r}; write it like 2026-11-01T12:00, with or without a zone.")
    return timezone.make_aware(at) if timezone.is_naive(at) else at
