"""The guided first visit: from the worst group to a replay that ends green, then a rebuild and a breaker."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils.http import urlencode

from breakers.models import Breaker, State
from dashboard.access import may
from dashboard.models import Run
from demo.models import SeenStep
from demo.pricing import get_shop
from dlq.models import DeadLetter, FailureGroup
from dlq.replay.outcomes import FAILED, SUCCEEDED
from projections.models import NATIVE, Projection, RebuildRequest

# Pages that are steps: who has looked at one has taken it.
PAGES = {
    "dlq:group": "group",
    "dlq:confirm_replay": "preview",
    "breakers:breaker": "breaker",
}
# The failures that a replay after the fix ends green for.
CONSUMER, ERROR_TYPE = "order-summary", "KeyError"


@dataclass(frozen=True)
class Step:
    """What to do, why, and where."""

    title: str
    text: str
    url: str
    is_done: bool


@dataclass(frozen=True)
class Visit:
    """The five steps of the story, after one that begins it anew if it is over without you; two for who wants more."""

    steps: list[Step]
    more: list[Step]

    @property
    def current(self) -> Step | None:
        """None: all is done."""
        return next((step for step in [*self.steps, *self.more] if not step.is_done), None)

    @property
    def is_story_over(self) -> bool:
        return all(step.is_done for step in self.steps)

    @property
    def left_count(self) -> int:
        """Of those for who wants more."""
        return sum(not step.is_done for step in self.more)


def find_visit(user: Any) -> Visit | None:
    """None: somebody who may only look is not asked to replay."""
    if not may(user, "replay.start"):
        return None
    seen = set(SeenStep.objects.filter(user=user.pk).values_list("name", flat=True))
    replays = list(Run.objects.filter(kind="replay", requested_by=str(user)).order_by("-pk")[:20])
    return Visit(list_story(find_group(), replays, seen), [make_rebuild_step(user), make_breaker_step(seen)])


def list_story(group: FailureGroup | None, replays: list[Run], seen: set[str]) -> list[Step]:
    """From a group of the bug, if there is one, to a replay of this user's that ends green."""
    is_busy, is_over = any(run.is_active for run in replays), any(is_green(run) for run in replays)
    group_url = reverse("dlq:group", args=[group.pk]) if group else reverse("dlq:groups")
    preview = f"{reverse('dlq:confirm_replay')}?scope=group&group={group.pk}" if group else group_url
    return [
        *([] if group or is_over or is_busy else list_beginnings()),
        Step(
            "Open the worst group",
            "One cause, many letters: what failed, since when, in which version.",
            group_url,
            "group" in seen,
        ),
        Step(
            "Preview a replay",
            "Every letter is counted before anything happens, with the events parked behind it.",
            preview,
            "preview" in seen,
        ),
        Step(
            "Deploy the fix",
            "Replaying into the bug would only fail again. The shop's own page deploys the next version.",
            reverse("demo:shop"),
            is_over or ((is_busy or group is not None) and not get_shop().is_buggy),
        ),
        Step(
            "Run the canary",
            "Replay the group: one letter goes first, then ten, then a hundred, then the rest.",
            group_url,
            any(run.options.get("canary") for run in replays),
        ),
        Step(
            "Watch it end green",
            "The run counts what succeeded and what failed; the audit trail keeps who asked for it.",
            reverse("runs:run", args=[replays[0].pk]) if replays else reverse("runs:runs"),
            is_over,
        ),
    ]


def list_beginnings() -> list[Step]:
    """What to do first where nothing of the last bug is left; empty: there is one, or will be in a moment."""
    shop = get_shop()
    if shop.is_buggy or not shop.is_past_made:
        return []
    return [
        Step(
            "Ship the next bug",
            "Nothing of the last one is left. The shop's own page ships a release with another; "
            "its first letters come within a minute or two.",
            reverse("demo:shop"),
            is_done=False,
        )
    ]


def make_rebuild_step(user: Any) -> Step:
    """Who may not rebuild can ask for it."""
    if may(user, "projection.rebuild"):
        rebuilds = Run.objects.filter(kind="rebuild", requested_by=str(user), state=Run.State.FINISHED)
        return Step(
            "Rebuild a projection",
            "Its read model is emptied and every event handled again; then it goes on live.",
            find_projection_url(),
            rebuilds.exists(),
        )
    return Step(
        "Ask for a rebuild",
        "It empties a read model and handles every event again; somebody who may rebuild decides.",
        find_projection_url(),
        RebuildRequest.objects.filter(requested_by=str(user)).exists(),
    )


def make_breaker_step(seen: set[str]) -> Step:
    return Step(
        "Look at a breaker",
        "A seller's endpoint is down every now and then: events for it wait, the others go on.",
        find_breaker_url(),
        "breaker" in seen,
    )


def find_group() -> FailureGroup | None:
    """The newest group of the bug with open letters; None: nothing of it is open."""
    is_open = Exists(DeadLetter.objects.open().filter(group=OuterRef("pk")))
    groups = FailureGroup.objects.filter(is_open, consumer=CONSUMER, error_type=ERROR_TYPE)
    return groups.order_by("-pk").first()


def is_green(run: Run) -> bool:
    """It came to its end, and nothing failed."""
    if run.state != Run.State.FINISHED:
        return False
    counts = [lane.totals for lane in run.lanes.all()]
    return any(count.get(SUCCEEDED.name) for count in counts) and not any(
        count.get(name) for count in counts for name in FAILED
    )


def find_projection_url() -> str:
    row = Projection.objects.filter(source=NATIVE, name=CONSUMER).only("pk").first()
    return reverse("projections:projection", args=[row.pk]) if row else reverse("projections:projections")


def find_breaker_url() -> str:
    found = Breaker.objects.filter(source=Breaker.OURS).exclude(state=State.CLOSED).first()
    return (
        f"{reverse('breakers:breaker')}?{urlencode({'name': found.name})}"
        if found
        else reverse("breakers:breakers")
    )
