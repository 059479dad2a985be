"""The walk of an on-call engineer: worst group, its letters, select all that match, discard with a reason, undo."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from dlq.api import Failure, record_failures
from dlq.models import DeadLetter

SignIn = Callable[[str], Page]


def record(consumer: str, number: int, message: str) -> None:
    record_failures(
        [
            Failure(
                consumer=consumer,
                event_id=f"{consumer}-{n}",
                event_type="OrderPlaced",
                payload={"order": n, "note": "<script>alert(1)</script>"},
                error_type="KeyError",
                error_message=message,
            )
            for n in range(number)
        ]
    )


def test_triage_from_the_worst_group_to_undo(sign_in_as: SignIn) -> None:
    record("order-summary", 12, "'currency'")
    record("webhooks", 3, "'endpoint'")
    page = sign_in_as("operator")
    page.get_by_role("link", name="Dead letters").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("15 open letters in 2 groups")
    page.locator("tbody tr").first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("KeyError: 'currency'")
    page.get_by_role("link", name="See its letters").click()
    expect(page.get_by_text("Exactly 12 letters match.")).to_be_visible()
    page.get_by_label("all 12 matching").check()
    page.get_by_role("button", name="Discard…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_have_text("Discard 12 letters of order-summary?")
    dialog.get_by_label("Reason (required)").fill("made by a broken test")
    dialog.get_by_role("button", name="Discard 12 letters").click()
    expect(page.get_by_text("12 letters discarded.")).to_be_visible()
    assert DeadLetter.objects.filter(status="discarded").count() == 12
    page.get_by_role("link", name="Undo…").click()
    dialog.get_by_role("button", name="Restore 12 letters").click()
    expect(page.get_by_text("12 letters restored.")).to_be_visible()
    assert DeadLetter.objects.filter(status="failed").count() == 15


def test_a_selection_survives_the_live_region(sign_in_as: SignIn) -> None:
    record("order-summary", 3, "'currency'")
    page = sign_in_as("operator")
    page.goto("/dead-letters/letters/")
    page.locator("tbody input[type=checkbox]").nth(1).check()
    expect(page.locator("[data-selected-count]")).to_have_text("1")
    record("webhooks", 1, "'endpoint'")
    expect(page.get_by_text("1 new, show it")).to_be_visible()
    expect(page.locator("tbody input[type=checkbox]").nth(1)).to_be_checked()
    expect(page.get_by_role("button", name="Discard…")).to_be_visible()


def test_a_letter_is_read_and_copied_without_running_what_it_holds(sign_in_as: SignIn) -> None:
    record("order-summary", 1, "<img src=x onerror=alert(1)>")
    page = sign_in_as("viewer")
    page.on("dialog", lambda dialog: (_ for _ in ()).throw(AssertionError(dialog.message)))
    page.goto(f"/dead-letters/letters/{DeadLetter.objects.get().pk}/")
    expect(page.locator(".json")).to_contain_text("<script>alert(1)</script>")
    expect(page.get_by_role("link", name=re.compile("Discard"))).to_have_count(0)
