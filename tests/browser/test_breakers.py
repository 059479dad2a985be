"""Breakers in a real browser: one opens before one's eyes, is tripped and reset by hand; a viewer only looks."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from breakers import tasks
from breakers.api import BreakerOpen, Policy, get_breaker
from dashboard.models import AuditEntry

SignIn = Callable[[str], Page]
POLICY = Policy(failure_threshold=2, open_seconds=600, cache_seconds=0)


def call(*, fails: bool = False) -> bool:
    """A call through the breaker; whether it was made."""
    try:
        with get_breaker("orders-api", POLICY, used_by="target orders").call():
            if fails:
                raise ConnectionError("refused")
    except ConnectionError:
        pass
    except BreakerOpen:
        return False
    return True


def test_a_breaker_opens_before_ones_eyes(sign_in_as: SignIn) -> None:
    call()
    tasks.tend()
    page = sign_in_as("viewer")
    page.goto("/breakers/")
    expect(page.get_by_role("heading", level=1)).to_have_text("The only breaker is closed")
    page.evaluate("window.stillHere = true")
    call(fails=True)
    call(fails=True)
    expect(page.get_by_role("heading", level=1)).to_have_text("1 breaker is not closed")
    row = page.locator("tbody tr").first
    expect(row).to_contain_text("ConnectionError: refused")
    before = row.get_by_text("probe in").inner_text()
    expect(row.get_by_text("probe in")).not_to_have_text(before)
    assert not call()
    expect(row.locator("td[data-label='Refused']")).to_have_text("1")
    assert page.evaluate("window.stillHere")


def test_tripped_and_reset_by_hand_with_a_reason(sign_in_as: SignIn) -> None:
    call()
    tasks.tend()
    page = sign_in_as("operator")
    page.goto("/breakers/")
    page.get_by_role("link", name="orders-api").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("orders-api is closed")
    page.get_by_role("link", name="Trip…").click()
    dialog = page.locator("#dialog")
    expect(dialog).to_contain_text("Used by target orders.")
    dialog.get_by_label("Reason").fill("they are migrating")
    dialog.get_by_label("Hold it open").select_option("for an hour")
    dialog.get_by_role("button", name="Trip orders-api").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("orders-api is held open")
    expect(page.locator("main")).to_contain_text("they are migrating")
    assert not call()
    page.get_by_role("link", name="Reset…").click()
    dialog.get_by_label("Reason").fill("they are done")
    dialog.get_by_role("button", name="Reset orders-api").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("orders-api is closed")
    assert call()
    tasks.tend()
    expect(page.get_by_role("region", name="Timeline")).to_contain_text("tripped")
    entries = AuditEntry.objects.filter(action__startswith="breaker.").order_by("id")
    assert [entry.reason for entry in entries] == ["they are migrating", "they are done"]


def test_a_trip_without_a_reason_is_sent_back_with_the_form_as_it_was(sign_in_as: SignIn) -> None:
    call()
    page = sign_in_as("operator")
    page.goto("/breakers/breaker/trip/confirm/?name=orders-api")
    page.get_by_label("Hold it open").select_option("for a day")
    page.evaluate("document.querySelector('form.confirm').noValidate = true")
    page.get_by_role("button", name="Trip orders-api").click()
    expect(page.get_by_text("Say why; the next person on call will read it.")).to_be_visible()
    expect(page.get_by_label("Hold it open")).to_have_value("24h")
    assert call()


def test_a_viewer_only_looks(sign_in_as: SignIn) -> None:
    call(fails=True)
    call(fails=True)
    page = sign_in_as("viewer")
    page.goto("/breakers/breaker/?name=orders-api")
    expect(page.get_by_role("heading", level=1)).to_have_text("orders-api is open")
    expect(page.get_by_role("link", name=re.compile("Trip|Reset"))).to_have_count(0)
    page.goto("/breakers/breaker/trip/confirm/?name=orders-api")
    expect(page.get_by_role("heading", level=1)).to_have_text("You may not do that")


def test_the_keys_lead_to_the_breakers(sign_in_as: SignIn) -> None:
    page = sign_in_as("viewer")
    page.keyboard.press("g")
    page.keyboard.press("b")
    page.wait_for_url("**/breakers/")
    page.keyboard.press("/")
    expect(page.get_by_label("Name contains")).to_be_focused()
