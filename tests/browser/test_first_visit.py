"""The guided first visit, from the worst group to green, then a rebuild and a breaker, with real processes."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from breakers.api import get_breaker
from demo.models import OrderSummary, Shop
from demo.sales import Sales
from dlq.models import DeadLetter
from projections.declared import sync_declared
from projections.models import Head, Projection
from projections.store import append
from tests.processes import Process, running_beat, running_worker
from tests.wait import until

ORDERS = 14
CONSUMER = "order-summary"


@pytest.fixture
def shop(transactional_db: None, tmp_path: Path) -> Iterator[None]:
    """Orders in francs while 1.7.2 is out, consumed by a real consumer; an endpoint that is down."""
    sync_declared()
    Shop.objects.create(pk=1, patch=2)
    sales = Sales(seed=3)
    for number in range(ORDERS):
        for due in sales.order(number, timezone.now(), patch=2, currency="CHF"):
            append(due.stream, [due.event])
    breaker = get_breaker("hooks.cedar.example", "webhook", used_by="webhooks")
    for _ in range(5):
        with suppress(ConnectionError), breaker.call():
            raise ConnectionError("hooks.cedar.example answered 503")
    consumer = Process("manage.py", "consume", CONSUMER, log=tmp_path / "consume.log")
    with running_worker(tmp_path / "worker.log"), running_beat(tmp_path / "beat.log"):
        # Until the last follower is parked: the number of letters is what the visit is asked to confirm.
        until(lambda: Projection.objects.get(name=CONSUMER).position == Head.objects.get().position)
        assert DeadLetter.objects.filter(status="failed").count() == ORDERS
        yield
    consumer.kill()


def go(page: Page, step: str) -> None:
    """Follow the step's link on the overview."""
    page.goto("/")
    page.locator("#panel-first-visit").get_by_role("link", name=step).click()


def expect_done(page: Page, *steps: str) -> None:
    page.goto("/")
    panel = page.locator("#panel-first-visit")
    for step in steps:
        expect(panel.get_by_role("listitem").filter(has_text=step)).to_contain_text("done")


def test_from_the_worst_group_to_green_then_a_rebuild_and_a_breaker(
    shop: None, sign_in_as: Callable[[str], Page]
) -> None:
    page = sign_in_as("admin")
    parked = DeadLetter.objects.filter(status="parked").count()
    go(page, "Open the worst group")
    expect(page.get_by_role("heading", level=1)).to_contain_text("KeyError")
    go(page, "Preview a replay")
    expect(page.get_by_role("heading", level=1)).to_contain_text(
        f"Replay {ORDERS + parked} letters of {CONSUMER}"
    )
    expect_done(page, "Open the worst group", "Preview a replay")

    go(page, "Deploy the fix")
    page.get_by_role("button", name="Deploy the fix").click()
    expect(page.get_by_text("1.7.3 is deployed.")).to_be_visible()
    go(page, "Run the canary")
    page.get_by_role("link", name=f"Replay {ORDERS}…").click()
    page.get_by_role("dialog").get_by_role("button", name=f"Replay {ORDERS + parked} letters").click()
    expect(page.locator(".run .badge")).to_have_text("Finished")
    expect(page.get_by_text(f"succeeded {ORDERS + parked}")).to_be_visible()
    assert OrderSummary.objects.filter(currency="CHF").count() == ORDERS
    expect_done(page, "Deploy the fix", "Run the canary", "Watch it end green")
    expect(page.locator("#panel-first-visit")).to_contain_text("in order and on record")

    go(page, "Rebuild a projection")
    page.get_by_role("link", name="Rebuild…").click()
    page.get_by_label("to confirm").fill(CONSUMER)
    page.get_by_label("Reason").fill("to see it")
    page.get_by_role("dialog").get_by_role("button", name=f"Rebuild {CONSUMER}").click()
    expect(page.locator(".run .badge")).to_have_text("Finished")
    go(page, "Look at a breaker")
    expect(page.get_by_role("heading", level=1)).to_have_text("hooks.cedar.example is open")
    expect_done(page, "Rebuild a projection", "Look at a breaker")
    assert OrderSummary.objects.filter(currency="CHF").count() == ORDERS
