"""A projection that moves between the confirmation of a reset and the reset itself."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.models import Run
from projections.models import Projection
from projections.operations import reset_checkpoint
from tests.dlq.replay.conftest import run_all

Pay = Callable[..., int]
Work = Callable[..., Projection]
Positions = Callable[[str], list[int]]


@pytest.mark.parametrize(("position", "now"), [(3, 5), (2, 5), (1, 0), (3, 1)])
def test_a_reset_that_would_touch_other_events_than_were_confirmed_is_refused(
    admin: Client, pay: Pay, position: int, now: int
) -> None:
    """It was at 2: forward to 3, staying, back to 1."""
    pay("a", 1, 2, 3, 4, 5)
    row = Projection.objects.get(name="letters")
    Projection.objects.filter(pk=row.pk).update(position=2)
    address = f"{reverse('projections:confirm_reset', args=[row.pk])}?to=position&position={position}"
    assert 'name="was_at" value="2"' in admin.get(address).content.decode()
    Projection.objects.filter(pk=row.pk).update(position=now)
    given = {"position": position, "was_at": 2, "typed": "letters", "reason": "go", "request_key": uuid4()}
    html = admin.post(reverse("projections:reset", args=[row.pk]), given, follow=True).content.decode()
    is_refused = (position, now) != (3, 1)
    refusal = f"letters was at 2 when you were asked, and is at {now} now. Nothing was changed; look again"
    assert (refusal in html) == is_refused
    assert Run.objects.exists() != is_refused


def test_the_run_of_a_reset_is_named_with_a_position_that_can_be_read(pay: Pay) -> None:
    pay("a", *range(1, 1002), event_type="Noted")
    row = Projection.objects.get(name="letters")
    run = reset_checkpoint(row, 1000, actor="ada", reason="", request_key=uuid4())
    assert run.title == "Reset letters to 1,000"


def test_a_reset_that_waits_for_a_worker_goes_back_over_nothing_that_was_to_be_left_out(
    pay: Pay, work: Work, applied: Positions
) -> None:
    pay("a", 1, 2, 3, 4)
    row = Projection.objects.get(name="letters")
    run = reset_checkpoint(row, 2, actor="ada", reason="", request_key=uuid4(), was_at=0)
    assert work("letters").position == 4
    run_all(run)
    assert work("letters").position == 4
    assert applied("letters") == [1, 2, 3, 4]
    assert run.lanes.get().totals == {"passed": 1}
