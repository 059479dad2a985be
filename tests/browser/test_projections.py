"""An operator and a stopped projection; two people and a rebuild."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from projections.declared import sync_declared
from projections.models import Projection, RebuildRequest, Skip
from projections.store import NewEvent, append
from tests.browser.conftest import PASSWORD
from tests.processes import Process, running_worker
from tests.shop.models import Balance, Fault
from tests.wait import until


@pytest.fixture
def consuming(transactional_db: None, tmp_path: Path) -> Iterator[None]:
    sync_declared()
    consumer = Process("manage.py", "consume", "prices", "balances", log=tmp_path / "consume.log")
    yield
    consumer.kill()


def open_projection(page: Page, name: str) -> None:
    page.goto("/projections/")
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)


def test_a_stopped_projection_is_skipped_past_with_a_reason(
    consuming: None, sign_in_as: Callable[[str], Page]
) -> None:
    Fault.objects.create(mark="x", how="ValueError")
    append("a", [NewEvent("Paid", {"amount": 1, "mark": "x"}), NewEvent("Paid", {"amount": 2})])
    until(lambda: Projection.objects.filter(name="prices", state="stopped").exists())
    page = sign_in_as("operator")
    open_projection(page, "prices")
    expect(page.get_by_text("on the event at 1: ValueError").first).to_be_visible()
    expect(page.get_by_text("amount 17 is not possible").first).to_be_visible()
    page.get_by_role("link", name="Skip…").click()
    page.get_by_label("Reason").fill("a test order")
    page.get_by_role("button", name="Skip 1 event").click()
    expect(page.get_by_text("prices has skipped the event at 1.")).to_be_visible()
    expect(page.get_by_text("Up to date")).to_be_visible()
    # What waits for a moment only is up to date already.
    until(lambda: Projection.objects.get(name="prices").position == 2)
    assert Skip.objects.get().reason == "a test order"
    page.goto("/projections/skipped/")
    expect(page.get_by_text("a test order")).to_be_visible()


def test_a_rebuild_is_requested_granted_and_watched_to_the_end(
    consuming: None,
    tmp_path: Path,
    chromium: Browser,
    console: str,
    sign_in_as: Callable[[str], Page],
    make_user: Callable[..., User],
) -> None:
    append("a", [NewEvent("Paid", {"amount": 5}), NewEvent("Paid", {"amount": 7})])
    until(lambda: Projection.objects.filter(name="balances", position=2).exists())
    Balance.objects.update(amount=0)
    page = sign_in_as("operator")
    open_projection(page, "balances")
    page.get_by_role("link", name="Ask for a rebuild…").click()
    page.get_by_label("Reason").fill("the totals are off")
    page.get_by_role("button", name="Ask for a rebuild").click()
    expect(page.get_by_text("1 rebuild is asked for")).to_be_visible()

    make_user("ada", "admin", PASSWORD)
    other = chromium.new_context(base_url=console).new_page()
    other.goto("/login/?next=/projections/requests/")
    other.get_by_label("User name").fill("ada")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Sign in").click()
    other.get_by_role("link", name="Grant…").click()
    other.get_by_label("to confirm").fill("balances")
    other.get_by_label("Reason").fill("agreed")
    with running_worker(tmp_path / "worker.log"):
        other.get_by_role("button", name="Grant, and rebuild balances").click()
        expect(other.get_by_text("Finished").first).to_be_visible()
    assert RebuildRequest.objects.get().state == "granted"
    assert Balance.objects.get(account="a").amount == 12
    page.reload()
    expect(page.get_by_text("Granted")).to_be_visible()
    other.context.close()
