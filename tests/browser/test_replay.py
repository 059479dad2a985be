"""Replay as an operator does it: preview, a canary that fails, resume, cancel, and a double click."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard.models import AuditEntry, Run
from dlq.models import DeadLetter, FailureGroup, LetterRunItem
from projections.declared import sync_declared
from projections.definition import find_projector
from projections.runtime.clock import SystemClock
from projections.runtime.hand import LIVE
from projections.runtime.turn import take_turn
from projections.store import NewEvent, append
from tests.processes import running_beat, running_worker
from tests.shop.models import Fault

SignIn = Callable[[str], Page]
STREAMS = 15


@pytest.fixture
def worker(transactional_db: None, tmp_path: Path) -> Iterator[None]:
    with running_worker(tmp_path / "worker.log"), running_beat(tmp_path / "beat.log"):
        yield


@pytest.fixture
def letters(transactional_db: None) -> None:
    """The first event of each stream has failed, and two more are parked behind it."""
    sync_declared()
    for number in range(STREAMS):
        Fault.objects.create(mark=f"s{number}", how="ValueError")
        append(
            f"s{number}",
            [NewEvent("Paid", {"amount": n, "mark": f"s{number}" if n == 1 else ""}) for n in (1, 2, 3)],
        )
    projector = find_projector("letters")
    assert projector
    while take_turn(projector, LIVE, SystemClock()) == 0:
        pass


def open_preview(page: Page) -> None:
    page.goto(f"/dead-letters/groups/{FailureGroup.objects.get().pk}/")
    page.get_by_role("link", name="Replay 15…").click()
    expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text("Replay 45 letters of letters?")


def test_a_canary_that_fails_pauses_and_the_rest_goes_on_when_somebody_resumes(
    letters: None, worker: None, sign_in_as: SignIn
) -> None:
    page = sign_in_as("operator")
    open_preview(page)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("15 sequences, each in order 30 followers come along")
    # The command says the start that is chosen, and no other.
    for choice, option in {
        "a dry run": "--dry-run",
        "all at once": "--no-canary",
        "1, then 10": "--canary",
    }.items():
        dialog.get_by_label(choice).check()
        expect(dialog.locator(".command :is(.for-ladder, .for-all, .for-dry):visible")).to_have_text(option)
    dialog.get_by_label("Reason").fill("1.8.1 is out")
    dialog.get_by_role("button", name="Replay 45 letters").click()
    why = "1 failed; it was the first. Resume to go on, or cancel."
    expect(page.locator(".run .message", has_text=why)).to_be_visible()
    expect(page.get_by_role("cell", name=why)).to_be_visible()
    expect(page.locator(".badge", has_text="same error")).to_be_visible()
    Fault.objects.all().delete()
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".run .badge")).to_have_text("Finished")
    expect(page.get_by_text("succeeded 42")).to_be_visible()
    expect(page.get_by_text("held 2")).to_be_visible()
    assert DeadLetter.objects.filter(resolution="replayed").count() == 42
    page.get_by_role("link", name="Replay what failed or was held…").click()
    expect(dialog.get_by_role("heading")).to_have_text("Replay 3 letters of letters?")


def test_a_dialog_fits_a_small_screen(letters: None, sign_in_as: SignIn) -> None:
    page = sign_in_as("operator")
    page.set_viewport_size({"width": 380, "height": 800})
    page.goto(f"/dead-letters/groups/{FailureGroup.objects.get().pk}/")
    page.get_by_role("link", name="Discard 15…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Discard 15 letters; 30 followers as chosen")).to_be_visible()
    assert dialog.evaluate("dialog => dialog.scrollWidth <= dialog.clientWidth")


def test_a_dialog_that_is_longer_than_the_screen_begins_with_what_it_will_do(
    letters: None, sign_in_as: SignIn
) -> None:
    page = sign_in_as("operator")
    page.set_viewport_size({"width": 380, "height": 480})
    open_preview(page)
    dialog = page.get_by_role("dialog")
    assert dialog.evaluate("dialog => dialog.scrollHeight > dialog.clientHeight")
    expect(dialog.get_by_role("heading")).to_be_in_viewport(ratio=1)
    expect(dialog.get_by_label("Reason")).to_be_focused()


def test_a_double_click_is_one_run_and_it_can_be_cancelled(letters: None, sign_in_as: SignIn) -> None:
    page = sign_in_as("operator")
    open_preview(page)
    page.get_by_role("dialog").get_by_role("button", name="Replay 45 letters").dblclick()
    headline = "Replay 45 letters of letters: pending; 45 still to do"
    expect(page.get_by_role("heading", level=1)).to_have_text(headline)
    assert Run.objects.count() == 1
    assert LetterRunItem.objects.count() == 45
    page.get_by_role("link", name="Cancel…").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel run").click()
    expect(page.locator(".run .badge")).to_have_text("Cancelled")
    assert set(DeadLetter.objects.values_list("status", flat=True)) == {"failed", "parked"}


def test_an_event_is_edited_compared_saved_and_replayed(
    letters: None, worker: None, sign_in_as: SignIn
) -> None:
    letter = DeadLetter.objects.get(sequence_key="s3", sequence_no=1)
    page = sign_in_as("operator")
    page.goto(f"/dead-letters/letters/{letter.pk}/")
    page.get_by_role("link", name="Edit and replay…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Replace what letters gets")
    payload = page.get_by_label("Payload, as JSON")
    # What is no JSON is said beside it, and nothing that was typed is lost.
    payload.fill('{"amount": 1,')
    page.get_by_label("Reason").fill("the mark was a typo")
    page.get_by_role("button", name="See what changes").click()
    expect(page.get_by_role("alert")).to_contain_text("This is not JSON")
    expect(payload).to_have_value('{"amount": 1,')
    payload.fill('{"amount": 1, "mark": ""}')
    page.get_by_role("button", name="See what changes").click()
    expect(page.locator(".diff .removed")).to_have_text('-  "mark": "s3"')
    expect(page.locator(".diff .added")).to_have_text('+  "mark": ""')
    page.get_by_role("button", name="Save the replacement, then replay…").click()
    expect(page.get_by_text("The replacement is on record; the original is kept.")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Replay 3 letters of letters?")
    page.get_by_role("button", name="Replay 3 letters").click()
    expect(page.locator(".run .badge")).to_have_text("Finished")
    expect(page.get_by_text("succeeded 3")).to_be_visible()
    # The fault is still there: it was the replacement that could be handled.
    assert Fault.objects.filter(mark="s3").exists()
    letter.refresh_from_db()
    assert (letter.resolution, letter.body.payload["mark"]) == ("replayed", "s3")
    assert AuditEntry.objects.get(action="letter.edit").reason == "the mark was a typo"
