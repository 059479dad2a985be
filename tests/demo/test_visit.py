"""The guided first visit on the overview: steps with links, ticked when they are taken."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.models import Run
from demo.models import SeenStep, Shop
from demo.pricing import get_shop
from demo.visit import Visit, find_visit
from dlq.api import record_failure
from dlq.models import DeadLetter, FailureGroup
from projections.models import Projection, RebuildRequest

pytestmark = pytest.mark.django_db


@pytest.fixture
def group() -> FailureGroup:
    """The bug's group."""
    Shop.objects.update_or_create(pk=1, defaults={"patch": 2, "is_past_made": True})
    get_shop.forget()
    record_failure(consumer="order-summary", event_id="e1", error=KeyError("CHF"))
    return FailureGroup.objects.get()


def ticks(visit: Visit | None) -> list[bool]:
    assert visit
    return [step.is_done for step in [*visit.steps, *visit.more]]


def test_it_begins_with_the_worst_group_and_every_step_is_a_link(
    group: FailureGroup, operator: Client
) -> None:
    page = operator.get("/").content.decode()
    assert "Your first visit" in page
    assert f'<a href="/dead-letters/groups/{group.pk}/">Open the worst group</a>' in page
    visit = find_visit(User.objects.get(username="some-operator"))
    assert visit
    assert visit.current == visit.steps[0]
    for step in [*visit.steps, *visit.more]:
        assert operator.get(step.url).status_code == 200


def test_steps_are_ticked_by_looking_and_by_doing(
    group: FailureGroup, operator: Client, make_user: Callable[..., User]
) -> None:
    user = User.objects.get(username="some-operator")
    assert ticks(find_visit(user)) == [False] * 7
    operator.get(f"/dead-letters/groups/{group.pk}/")
    assert ticks(find_visit(user))[:2] == [True, False]
    operator.get("/dead-letters/replay/confirm/", {"scope": "group", "group": group.pk})
    assert ticks(find_visit(user))[:3] == [True, True, False]
    operator.post("/demo/deploy-fix/")
    assert ticks(find_visit(user))[:4] == [True, True, True, False]
    # Somebody else has looked at nothing.
    assert ticks(find_visit(make_user("other", "operator")))[:2] == [False, False]


def test_who_comes_after_others_have_dealt_with_the_bug_is_offered_the_next(
    group: FailureGroup, operator: Client
) -> None:
    user = User.objects.get(username="some-operator")
    operator.get(f"/dead-letters/groups/{group.pk}/")
    Shop.objects.update(patch=3)
    get_shop.forget()
    # The fix is there, and what it is for.
    visit = find_visit(user)
    assert visit
    assert visit.current
    assert visit.current.title == "Preview a replay"
    DeadLetter.objects.update(status="resolved")
    visit = find_visit(user)
    assert visit
    # There is nothing that the fix is for any more.
    assert "Deploy the fix" not in [step.title for step in visit.steps if step.is_done]
    assert visit.current
    assert (visit.current.title, visit.current.url) == ("Ship the next bug", "/demo/")
    assert "Ship the next bug" in operator.get("/").content.decode()
    operator.post("/demo/ship-bug/")
    record_failure(consumer="order-summary", event_id="e2", error=KeyError("SEK"))
    assert ticks(find_visit(user)) == [True, *[False] * 6]


def test_who_has_lived_the_story_is_not_asked_to_begin_it_anew(operator: Client) -> None:
    Shop.objects.update_or_create(pk=1, defaults={"patch": 3, "is_past_made": True})
    get_shop.forget()
    user = User.objects.get(username="some-operator")
    run = Run.objects.create(
        kind="replay",
        requested_by=str(user),
        options={"canary": True},
        state="finished",
        request_key="0" * 32,
    )
    run.lanes.create(number=0, totals={"succeeded": 4})
    assert ticks(find_visit(user))[2:5] == [True, True, True]
    operator.post("/demo/ship-bug/")
    assert ticks(find_visit(user))[2:5] == [True, True, True]


def test_who_has_seen_all_of_it_is_not_offered_more(group: FailureGroup, operator: Client) -> None:
    user = User.objects.get(username="some-operator")
    options = {"canary": True}
    run = Run.objects.create(
        kind="replay", requested_by=str(user), options=options, state="finished", request_key="0" * 32
    )
    run.lanes.create(number=0, totals={"succeeded": 4})
    SeenStep.objects.bulk_create(SeenStep(user=user, name=name) for name in ("group", "preview"))
    assert "Two more, if you like." in operator.get("/").content.decode()
    SeenStep.objects.create(user=user, name="breaker")
    assert "One more, if you like." in operator.get("/").content.decode()
    RebuildRequest.objects.create(
        projection=Projection.objects.get(name="ledger"), requested_by=str(user), expires_at=timezone.now()
    )
    assert "That was all" in operator.get("/").content.decode()


def test_a_rebuild_is_done_when_it_is_finished_and_who_may_not_only_asks(
    group: FailureGroup, operator: Client, admin: Client
) -> None:
    user = User.objects.get(username="some-admin")
    run = Run.objects.create(kind="rebuild", requested_by=str(user), state="running", request_key="1" * 32)
    assert not ticks(find_visit(user))[5]
    Run.objects.filter(pk=run.pk).update(state="finished")
    assert ticks(find_visit(user))[5]
    assert "Rebuild a projection" in admin.get("/").content.decode()
    assert "Ask for a rebuild" in operator.get("/").content.decode()


@pytest.mark.parametrize(
    ("state", "totals", "is_green"),
    [
        ("finished", {"succeeded": 4}, True),
        ("finished", {"succeeded": 4, "same_error": 1}, False),
        ("paused", {"succeeded": 4}, False),
        ("finished", {}, False),
    ],
)
def test_a_replay_ends_green_only_if_it_ended_and_nothing_failed(
    group: FailureGroup, operator: Client, state: str, totals: dict[str, int], is_green: bool
) -> None:
    user = User.objects.get(username="some-operator")
    run = Run.objects.create(
        kind="replay", requested_by=str(user), options={"canary": True}, state=state, request_key="0" * 32
    )
    run.lanes.create(number=0, totals=totals)
    assert ticks(find_visit(user))[3:5] == [True, is_green]


def test_a_viewer_is_not_asked_to_replay(group: FailureGroup, viewer: Client) -> None:
    assert "Your first visit" not in viewer.get("/").content.decode()


def test_who_puts_it_away_does_not_see_it_again(group: FailureGroup, operator: Client, admin: Client) -> None:
    operator.post("/panels/first-visit/dismiss/")
    assert "Your first visit" not in operator.get("/").content.decode()
    assert "Your first visit" in admin.get("/").content.decode()
