"""What a replay's page says beside its meter: how it goes about it, what fails in it, and what fails meanwhile."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Max

from dashboard.models import Run
from dlq.masking import Masker
from dlq.models import DeadLetter, FailureGroup, LetterRunItem
from dlq.replay.ladder import get_rung
from dlq.replay.options import REST, RUNG_SIZES, ReplayOptions
from dlq.replay.outcomes import FAILED

SHOWN_GROUPS = 10
SHOWN_NOTES = 5
# Counts of what fails meanwhile stop here.
MOST_COUNTED = 1_000


@dataclass(frozen=True)
class FailingGroup:
    """A group into which letters of this run failed."""

    group: FailureGroup | None
    # As everybody may see it.
    title: str
    is_new: bool
    number: int
    last_at: datetime | None


def describe_run(run: Run) -> dict[str, Any]:
    """The context of `_replay_run.html`."""
    items = LetterRunItem.objects.filter(run=run)
    stopped = items.filter(outcome__in=["held", "skipped"])
    why = stopped.order_by().values_list("outcome", "note").annotate(number=Count("pk")).order_by("-number")
    return {
        "options": ReplayOptions.of(run),
        "rung": describe_rung(run),
        "pace_now": run.options.get("pace_now"),
        "failing": list_failing(run),
        "stopped": list(why[:SHOWN_NOTES]),
        "meanwhile": count_meanwhile(run),
        "joined": count_joined(run),
        "may_repeat": (not run.is_active and stopped.exists()) or items.filter(outcome__in=FAILED).exists(),
    }


def describe_rung(run: Run) -> str:
    """Where on the ladder it is; empty: it has none."""
    if not run.options.get("canary"):
        return ""
    rung = get_rung(run)
    return "the rest" if rung == REST else f"the first {sum(RUNG_SIZES[:rung])}"


def list_failing(run: Run) -> list[FailingGroup]:
    """The groups of this run's failures, the newest first."""
    failed = LetterRunItem.objects.filter(run=run, outcome__in=FAILED).order_by()
    rows = list(
        failed.values("group", "outcome")
        .annotate(number=Count("pk"), last_at=Max("at"))
        .order_by("-last_at")[:SHOWN_GROUPS]
    )
    groups = FailureGroup.objects.in_bulk([row["group"] for row in rows if row["group"]])
    masker = Masker(AnonymousUser())
    return [
        FailingGroup(
            group,
            masker.title(group) if group else "",
            is_new=row["outcome"] == "new_error",
            number=row["number"],
            last_at=row["last_at"],
        )
        for row in rows
        for group in [groups.get(row["group"])]
    ]


def count_joined(run: Run) -> int:
    """Letters that were parked behind its own while it ran, and came along; nobody could confirm those."""
    total = sum(run.lanes.values_list("total", flat=True))
    return max(total - int(run.options.get("confirmed", total)), 0)


def count_meanwhile(run: Run) -> int:
    """Letters of the same consumers that came since it was asked for, and are not part of it."""
    since = {"last_failed_at__gt": run.created_at, "first_failed_at__gt": run.created_at}
    new = DeadLetter.objects.open().filter(consumer__in=run.options.get("consumers", []), **since)
    return new.order_by()[:MOST_COUNTED].count()
