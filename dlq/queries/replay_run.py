"""What a replay's page says beside its meter: how it goes about it, what fails in it, and what fails meanwhile."""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from breakers.api import Obstacle, find_obstacles
from dashboard.models import Run
from dlq.masking import Masker
from dlq.models import DeadLetter, FailureGroup, LetterRunItem, ReplaySwitch
from dlq.replay.ladder import get_rung
from dlq.replay.options import REST, RUNG_SIZES, ReplayOptions
from dlq.replay.outcomes import FAILED, NEW
from dlq.replay.queue import list_next
from dlq.retention import KEEP_ITEMS_DAYS, has_items
from dlq.selection import MOST_SEARCHED
from dlq.targets import find_target, handler

# A note ends with the letter that stands in the way, which is another one in every sequence.
WHICH_LETTER = re.compile(r" \(letter \d+\)$")
STOPPED = ("held", "skipped")
SHOWN_GROUPS = 10
SHOWN_NOTES = 5
# A run may have a million items, and its page is asked for every second: so many of the newest speak for the others.
LOOKED_AT = 5_000
# Counts of what fails meanwhile stop here.
MOST_COUNTED = 1_000


@dataclass(frozen=True)
class Failing:
    """An error with which items of this run failed; `group` is None if there is none any more."""

    group: FailureGroup | None
    # As everybody may see it; empty: it is gone with its group.
    title: str
    is_new: bool
    number: int
    last_at: datetime | None


def describe_run(run: Run) -> dict[str, Any]:
    """The context of `_replay_run.html`."""
    items = LetterRunItem.objects.filter(run=run)
    options, joined, ended = ReplayOptions.of(run), count_joined(run), count_ended(run)
    failing, failed_otherwise = list_failing(run)
    was_tried = options.dry_run and not run.is_active and ended.total() > 0
    return {
        "options": options,
        **find_letters(run),
        **read_times(run),
        "rung": describe_rung(run),
        "pace_now": run.options.get("pace_now"),
        "switch": ReplaySwitch.objects.first() if run.is_active else None,
        "failing": failing,
        "failed_otherwise": failed_otherwise,
        "is_failing_cut": any(ended[outcome] > LOOKED_AT for outcome in FAILED),
        "obstacles": list_obstacles(run),
        "stopped": list_stopped(run),
        "is_stopped_cut": any(ended[outcome] > LOOKED_AT for outcome in STOPPED),
        "looked_at": LOOKED_AT,
        "meanwhile": count_meanwhile(run),
        "most_counted": MOST_COUNTED,
        "joined": joined,
        "besides": describe_joined(run, joined),
        "most_together": handler.BATCH_SIZE,
        "afterwards": "and all of it was undone" if was_tried else "",
        "may_repeat": items.filter(outcome__in=list_repeatable(run, options)).exists(),
        "in_earnest": choose_in_earnest(run) if options.dry_run and not run.is_active else "",
    }


def choose_in_earnest(run: Run) -> str:
    """What chooses once more, for an address, all that a dry run has tried and undone; empty: that cannot be chosen."""
    if run.kind == "reprocess":
        chosen = {
            "type" if name == "types" else name: value for name, value in run.options["selection"].items()
        }
        return urlencode(chosen, doseq=True)
    is_known = has_items(run) and count_total(run) <= MOST_SEARCHED
    return urlencode({"scope": "matching", "run": run.pk}) if is_known else ""


def find_letters(run: Run) -> dict[str, Any]:
    """Whether the list of letters can show those of this run; of a reprocessing, those that it made."""
    items = LetterRunItem.objects.filter(run=run)
    if run.kind == "reprocess":
        items = items.filter(outcome__in=list_repeatable(run, ReplayOptions.of(run)))
    return {"has_items": has_items(run), "kept_days": KEEP_ITEMS_DAYS, "has_letters": items.exists()}


def list_repeatable(run: Run, options: ReplayOptions) -> list[str]:
    """The outcomes after which there is a letter that could be replayed."""
    if run.kind == "replay":
        return [*FAILED, "held"]
    # An event gets a letter only when it fails, and a dry run undoes that too.
    return [] if options.dry_run else [*FAILED]


def read_times(run: Run) -> dict[str, datetime]:
    """When the chosen events were recorded, as far as somebody said."""
    chosen = run.options.get("selection", {})
    return {name: datetime.fromisoformat(chosen[name]) for name in ("since", "until") if name in chosen}


def count_ended(run: Run) -> Counter[str]:
    """How many items ended how, all of them."""
    ended = Counter[str]()
    for totals in run.lanes.values_list("totals", flat=True):
        ended.update(totals)
    return ended


def list_obstacles(run: Run) -> list[Obstacle]:
    """The breakers that are not closed before what its waiting lanes have next; none, too, where nobody knows."""
    waiting = run.lanes.filter(is_done=False, not_before__gt=Now()).values_list("number", flat=True)
    if run.state != Run.State.RUNNING or not waiting:
        return []
    rung, names = get_rung(run), set()
    for number in waiting if run.kind == "replay" else ():
        for one in list_next(run, number, rung=rung, limit=1):
            if target := find_target(one.source, one.consumer):
                names.add(target.name)
    return find_obstacles(names, used_by=run.options.get("consumers", [])) or []


def list_newest(run: Run, outcome: str, *fields: str) -> list[tuple[Any, ...]]:
    newest = LetterRunItem.objects.filter(run=run, outcome=outcome).order_by("-id")
    return list(newest.values_list(*fields)[:LOOKED_AT])


def list_stopped(run: Run) -> list[tuple[str, str, int]]:
    """Why items were held or skipped, what is most frequent first; the seldom reasons together."""
    why = Counter(
        (outcome, WHICH_LETTER.sub("", note))
        for outcome in STOPPED
        for (note,) in list_newest(run, outcome, "note")
    )
    shown = [(*reason, number) for reason, number in why.most_common(SHOWN_NOTES)]
    others = why.total() - sum(number for _, _, number in shown)
    return [*shown, *([("held or skipped", "other reasons", others)] if others else [])]


def describe_rung(run: Run) -> str:
    """Where on the ladder it is; empty: it has none."""
    if not run.options.get("canary"):
        return ""
    rung = get_rung(run)
    number = sum(RUNG_SIZES[:rung])
    return "the rest" if rung == REST else "the first" if number == 1 else f"the first {number}"


def list_failing(run: Run) -> tuple[list[Failing], int]:
    """The errors of this run's newest failures, the latest first, and how many failed with others."""
    numbers: Counter[tuple[str, int | None, str]] = Counter()
    last: dict[tuple[str, int | None, str], datetime] = {}
    for outcome in FAILED:
        for group_id, note, at in list_newest(run, outcome, "group", "note", "at"):
            numbers[outcome, group_id, note] += 1
            # The newest item is not always the one that failed last: lanes are not equally fast.
            last[outcome, group_id, note] = max(at, last.get((outcome, group_id, note), at))
    latest = sorted(numbers, key=lambda key: last[key], reverse=True)[:SHOWN_GROUPS]
    groups = FailureGroup.objects.in_bulk([group_id for _, group_id, _ in latest if group_id])
    failing = [
        Failing(
            group,
            find_title(run, group, note),
            is_new=outcome == NEW.name,
            number=numbers[outcome, group_id, note],
            last_at=last[outcome, group_id, note],
        )
        for outcome, group_id, note in latest
        for group in [groups.get(group_id or 0)]
    ]
    return failing, numbers.total() - sum(one.number for one in failing)


def find_title(run: Run, group: FailureGroup | None, note: str) -> str:
    """The group's, or what a dry run has noted of one that it undid: made under the masking rules of its time, too."""
    if note and not group:
        group = FailureGroup(
            title=note, error_type=note.partition(":")[0], mask_key=run.options.get("mask_key")
        )
    return Masker(AnonymousUser()).title(group) if group else ""


def count_total(run: Run) -> int:
    """How many items it has, whatever came of them."""
    return sum(run.lanes.values_list("total", flat=True))


def count_joined(run: Run) -> int:
    """Letters that were parked behind its own while it ran, and came along; nobody could confirm those."""
    total = count_total(run)
    return max(total - int(run.options.get("confirmed", total)), 0)


def describe_joined(run: Run, joined: int) -> str:
    """How the run's title, which has the number that was confirmed, goes on in its headline."""
    behind = "it" if run.options.get("confirmed") == 1 else "them"
    return f"and {joined:,} parked behind {behind}" if joined else ""


def count_meanwhile(run: Run) -> int:
    """Open letters of the same consumers that came between its request and its end, and are not part of it."""
    since = {"last_failed_at__gt": run.created_at, "first_failed_at__gt": run.created_at}
    if run.ended_at:
        # By the last failure, as the index has it: one that was tried again after the run is no longer counted.
        since["last_failed_at__lte"] = run.ended_at
    theirs = {f"{name}__in": run.options.get(f"{name}s", []) for name in ("consumer", "source")}
    new = DeadLetter.objects.open().filter(**theirs, **since)
    # A reprocessing makes letters of its own.
    own = LetterRunItem.objects.filter(run=run, letter=OuterRef("pk"))
    return new.filter(~Exists(own)).order_by()[:MOST_COUNTED].count()


def count_active_replays() -> int:
    """What the switch would stop; counted up to MOST_COUNTED."""
    active = Run.objects.filter(kind__in=("replay", "reprocess")).exclude(state__in=Run.ENDED)
    return active.order_by()[:MOST_COUNTED].count()
