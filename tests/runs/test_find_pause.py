"""Who paused a run, and why, whatever else is in its log."""

import pytest

from dashboard.models import Run
from dashboard.runs import lanes, operations
from dashboard.runs.queries import find_pause
from tests.tally.operations import start_tally

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run() -> Run:
    return start_tally(5)


def pause(run: Run, actor: str) -> None:
    operations.pause_run(run, actor=actor)
    run.refresh_from_db()


def test_what_is_noted_while_it_pauses_is_not_the_pause(run: Run) -> None:
    assert lanes.claim(run.pk, 0, 0, holder="somebody")
    pause(run, "olga")
    assert run.state == Run.State.PAUSING
    operations.note_run(run, "It waits for shop: it gives no answer.")
    assert (found := find_pause(run))
    assert found.actor == "olga"


def test_it_is_the_last_pause_that_counts(run: Run) -> None:
    pause(run, "olga")
    operations.resume_run(run, actor="olga")
    assert find_pause(Run.objects.get(pk=run.pk)) is None
    pause(run, "ada")
    assert (found := find_pause(run))
    assert found.actor == "ada"
