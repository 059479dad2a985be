"""What the dead letters want a person to look at; asked on every page, so it reads counters and nothing else."""

from collections.abc import Iterator
from datetime import timedelta

from django.urls import reverse
from django.utils import timezone

from dashboard.attention import Need
from dashboard.banners import Banner
from dashboard.words import agree, clause, clock, counted, duration, say_ago
from dlq.models import ReplaySwitch
from dlq.queries.groups import find_worst
from dlq.queries.overview import find_left
from dlq.tables import name_consumer

# The largest groups and the ones that grow fastest, so many of each; the groups page has all.
SHOWN = 3
# A group that failed within this time grows.
GROWING = timedelta(minutes=10)
# A group that failed within this time is still at it.
RECENT = timedelta(hours=1)


def find_worst_groups() -> Iterator[Need]:
    """The worst open groups; one that still fails needs somebody more than one that has come to rest."""
    now = timezone.now()
    for worst in find_worst(SHOWN, GROWING):
        parts = [counted(worst.open_count, "open letter")]
        if worst.blocked_count:
            parts.append(f"{counted(worst.blocked_count, 'sequence')} held up")
        if worst.recent_count:
            failures = counted(worst.recent_count, "failure")
            parts.append(f"{failures} in the last {duration(GROWING.total_seconds())}")
        yield Need(
            f"{name_consumer(worst.source, worst.consumer)} fails: {worst.title}",
            f"{', '.join(parts)}. First seen {say_ago(worst.first_at)}, last {say_ago(worst.last_at)}.",
            reverse("dlq:group", args=[worst.group_id]),
            "Open the group",
            "bad" if now - worst.last_at < RECENT else "warn",
        )


def find_left_parked() -> Iterator[Need]:
    """Sequences of which only parked letters are left: nothing will release those any more."""
    left = find_left()
    if not left:
        return
    number, letter_id = left
    yield Need(
        f"{counted(number, 'sequence waits', 'sequences wait')} for a decision",
        f"Of {agree(number, 'it', 'them')} only parked letters are left: nothing happens to those until somebody "
        "replays, resolves or discards them.",
        reverse("dlq:letter", args=[letter_id]) if number == 1 else f"{reverse('dlq:letters')}?status=parked",
        "Open the first letter" if number == 1 else "See what is parked",
        "warn",
    )


def describe_switch(switch: ReplaySwitch) -> str:
    """Who stopped all replays, since when and why."""
    since = clock(switch.stopped_at)
    return f"All replays have been stopped by {switch.stopped_by} since {since}{say_why(switch)}."


def say_why(switch: ReplaySwitch) -> str:
    return f": {clause(switch.reason)}" if switch.reason else ""


def say_stopped_replays() -> Iterator[Banner]:
    """On every page: whoever wonders why nothing is replayed need not look for it."""
    for switch in ReplaySwitch.objects.all()[:1]:
        yield Banner(
            describe_switch(switch),
            reverse("dlq:confirm_allow_replays"),
            "Allow them again…",
            "replay.allow_all",
        )


def find_stopped_replays() -> Iterator[Need]:
    """The switch that stops all replays, for as long as it is on."""
    for switch in ReplaySwitch.objects.all()[:1]:
        yield Need(
            "All replays are stopped",
            f"By {switch.stopped_by}{say_why(switch)}. Runs keep their place, and none starts.",
            f"{reverse('runs:runs')}?state=active",
            "See the runs",
        )
