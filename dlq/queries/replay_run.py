"""What a replay's page says beside its meter: how it goes about it, what fails in it, and what fails meanwhile."""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef

from dashboard.models import Run
from dlq.masking import Masker
from dlq.models import DeadLetter, FailureGroup, LetterRunItem, ReplaySwitch
from dlq.replay.ladder import get_rung
from dlq.replay.options import REST, RUNG_SIZES, ReplayOptions
from dlq.replay.outcomes import FAILED, NEW

# A note ends with the letter that stands in the way, which is another one in every sequence.
WHICH_LETTER = re.compile(r" \(letter \d+\)$")
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
    # An event that was held has no letter that could be replayed.
    repeatable = [*FAILED, "held"] if run.kind == "replay" else FAILED
    options, joined = ReplayOptions.of(run), count_joined(run)
    was_tried = options.dry_run and run.state == Run.State.FINISHED
    return {
        "options": options,
        **read_times(run),
        "rung": describe_rung(run),
        "pace_now": run.options.get("pace_now"),
        "switch": ReplaySwitch.objects.first() if run.is_active else None,
        "failing": list_failing(run),
        "stopped": list_stopped(run),
        "meanwhile": count_meanwhile(run),
        "joined": joined,
        "besides": describe_joined(run, joined),
        "afterwards": "and all of it was undone" if was_tried else "",
        "may_repeat": items.filter(outcome__in=repeatable).exists(),
    }


def read_times(run: Run) -> dict[str, datetime]:
    """When the chosen events were recorded, as far as somebody said."""
    chosen = run.options.get("selection", {})
    return {name: datetime.fromisoformat(chosen[name]) for name in ("since", "until") if name in chosen}


def list_newest(run: Run, outcome: str, *fields: str) -> list[tuple[Any, ...]]:
    newest = LetterRunItem.objects.filter(run=run, outcome=outcome).order_by("-id")
    return list(newest.values_list(*fields)[:LOOKED_AT])


def list_stopped(run: Run) -> list[tuple[str, str, int]]:
    """Why items were held or skipped, what is most frequent first; the seldom reasons together."""
    why = Counter(
        (outcome, WHICH_LETTER.sub("", note))
        for outcome in ("held", "skipped")
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


def list_failing(run: Run) -> list[Failing]:
    """The errors of this run's newest failures, the latest first."""
    numbers: Counter[tuple[str, int | None, str]] = Counter()
    last: dict[tuple[str, int | None, str], datetime] = {}
    for outcome in FAILED:
        for group_id, note, at in list_newest(run, outcome, "group", "note", "at"):
            numbers[outcome, group_id, note] += 1
            last.setdefault((outcome, group_id, note), at)
    latest = sorted(numbers, key=lambda key: last[key], reverse=True)[:SHOWN_GROUPS]
    groups = FailureGroup.objects.in_bulk([group_id for _, group_id, _ in latest if group_id])
    return [
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


def find_title(run: Run, group: FailureGroup | None, note: str) -> str:
    """The group's, or what a dry run has noted of one that it undid: made under the masking rules of its time, too."""
    if note and not group:
        group = FailureGroup(
            title=note, error_type=note.partition(":")[0], mask_key=run.options.get("mask_key")
        )
    return Masker(AnonymousUser()).title(group) if group else ""


def count_joined(run: Run) -> int:
    """Letters that were parked behind its own while it ran, and came along; nobody could confirm those."""
    total = sum(run.lanes.values_list("total", flat=True))
    return max(total - int(run.options.get("confirmed", total)), 0)


def describe_joined(run: Run, joined: int) -> str:
    """How the run's title, which has the number that was confirmed, goes on in its headline."""
    behind = "it" if run.options.get("confirmed") == 1 else "them"
    return f"and {joined:,} parked behind {behind}" if joined else ""


def count_meanwhile(run: Run) -> int:
    """Letters of the same consumers that came since it was asked for, and are not part of it."""
    since = {"last_failed_at__gt": run.created_at, "first_failed_at__gt": run.created_at}
    new = DeadLetter.objects.open().filter(consumer__in=run.options.get("consumers", []), **since)
    # A reprocessing makes letters of its own.
    own = LetterRunItem.objects.filter(run=run, letter=OuterRef("pk"))
    return new.filter(~Exists(own)).order_by()[:MOST_COUNTED].count()


def count_active_replays() -> int:
    """What the switch would stop; counted up to MOST_COUNTED."""
    active = Run.objects.filter(kind__in=("replay", "reprocess")).exclude(state__in=Run.ENDED)
    return active.order_by()[:MOST_COUNTED].count()
