"""The overview in a real browser: it follows what happens and looks further back."""

from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone
from playwright.sync_api import Page, expect

from dashboard.models import Heartbeat
from dashboard.workers.heartbeats import beat
from dashboard.workers.queries import QUEUES
from dlq.api import Failure, record_failures

SignIn = Callable[[str], Page]


def test_it_follows_what_happens_and_says_so_in_the_tab(sign_in_as: SignIn) -> None:
    for kind in (Heartbeat.Kind.WORKER, Heartbeat.Kind.BEAT, Heartbeat.Kind.REDIS):
        beat(kind, "here", started_at=timezone.now(), queues=[*QUEUES])
    # Nobody beats on while a busy machine takes its time.
    Heartbeat.objects.update(seen_at=timezone.now() + timedelta(hours=1))
    page = sign_in_as("viewer")
    expect(page.get_by_role("heading", level=1)).to_have_text("All quiet")
    page.evaluate("window.stillHere = true")
    record_failures(
        Failure(consumer="billing", event_id=f"e{n}", error_type="KeyError", error_message="'currency'")
        for n in range(7)
    )
    needs = page.get_by_role("region", name="What needs you")
    expect(needs).to_contain_text("billing fails: KeyError: 'currency'")
    expect(page.get_by_role("region", name="Figures")).to_contain_text("permanent 7")
    expect(page.get_by_role("region", name="Open letters by error type")).to_contain_text("KeyError")
    expect(page.get_by_role("img", name="7 failed attempts,")).to_be_visible()
    expect(page).to_have_title("(1) Overview · Redrive production")
    expect(page.locator("#favicon")).to_have_attribute("href", "/favicon.svg?n=1")
    assert page.evaluate("window.stillHere")
    page.get_by_role("link", name="7 days", exact=True).click()
    page.wait_for_url("**/?range=7d")
    expect(page.get_by_role("link", name="7 days", exact=True)).to_have_attribute("aria-current", "true")
    needs.get_by_role("link", name="Open the group").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("KeyError: 'currency'")


def test_keys_go_through_what_needs_somebody_and_keep_to_it_as_the_list_grows(sign_in_as: SignIn) -> None:
    record_failures(a_failure("billing", n) for n in range(2))
    page = sign_in_as("viewer")
    needs = page.get_by_role("region", name="What needs you")
    for link in range(needs.get_by_role("link").count()):
        page.keyboard.press("j")
        expect(needs.get_by_role("link").nth(link)).to_be_focused()
    mine = needs.get_by_role("listitem").filter(has_text="billing fails")
    while "cursor" not in (mine.get_attribute("class") or ""):
        page.keyboard.press("k")
    record_failures(a_failure("shipping", n) for n in range(9))
    expect(needs).to_contain_text("shipping fails")
    expect(mine.get_by_role("link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("KeyError: 'currency'")
    expect(page.locator(".sub")).to_contain_text("2 open of 2 letters of billing")


def a_failure(consumer: str, number: int) -> Failure:
    return Failure(
        consumer=consumer, event_id=f"e{number}", error_type="KeyError", error_message="'currency'"
    )


def test_that_its_figures_are_stale_is_seen_wherever_it_is_scrolled_to(sign_in_as: SignIn) -> None:
    page = sign_in_as("viewer")
    page.set_viewport_size({"width": 1440, "height": 500})
    page.keyboard.press("End")
    page.route("**/", lambda route: route.abort())
    expect(page.locator("#live-state")).to_contain_text("stale since")
    expect(page.locator("header.top")).not_to_be_in_viewport()
    expect(page.locator("#live-state")).to_be_in_viewport()
