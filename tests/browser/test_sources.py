"""Sources in a real browser: one that is well, one that is not, a token that is shown once, rows that nobody tries."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from dashboard.models import AuditEntry
from sources.models import ForeignRow, SourceState, Token
from sources.tokens.secret import find_token
from tests.browser.test_every_page import find_faults
from tests.processes import running_web
from tests.sources.conftest import databases, foreign, make_foreign, sync  # noqa: F401 - fixtures
from tests.sources.foreign import Foreign

SignIn = Callable[[str], Page]
Sync = Callable[..., SourceState]
NOWHERE = "postgresql://127.0.0.1:1/billing"


@pytest.fixture
def console(transactional_db: None, tmp_path: Path, foreign: Foreign, settings: Any) -> Iterator[str]:  # noqa: F811
    """A console whose redrive.toml names the foreign system, and one that cannot be reached."""
    config = tmp_path / "redrive.toml"
    billing = {"kind": "eventsource-py", "dsn": NOWHERE}
    settings.SOURCES = {**settings.SOURCES, "billing": billing}
    tables = [
        f"[sources.{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
        for name, values in settings.SOURCES.items()
    ]
    config.write_text("\n".join(tables))
    with running_web(tmp_path / "web.log", REDRIVE_CONFIG=str(config)) as address:
        yield address


def test_the_sources_with_their_health_and_what_is_wrong(
    foreign: Foreign,  # noqa: F811
    sync: Sync,  # noqa: F811
    sign_in_as: SignIn,
) -> None:
    foreign.add(2)
    sync("orders")
    sync("billing")
    page = sign_in_as("viewer")
    page.goto("/sources/")
    orders, billing = page.locator("#source-orders"), page.locator("#source-billing")
    expect(orders).to_contain_text("Up to date")
    expect(orders.get_by_role("link", name="2", exact=True)).to_be_visible()
    expect(billing).to_contain_text("It cannot be reached")
    expect(billing).to_contain_text("unknown")
    orders.get_by_role("link", name="orders").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("orders is up to date")
    expect(page.locator("main")).to_contain_text("dead_letter_queue: 13 columns")
    page.get_by_role("link", name="See its letters").click()
    expect(page.locator("main")).to_contain_text("OrderSummary")
    page.goto("/sources/billing/")
    expect(page.get_by_role("heading", level=1)).to_have_text("billing does not answer")
    expect(page.locator("main")).to_contain_text("; it is tried again by itself.")
    expect(page.get_by_role("link", name="Release…")).to_have_count(0)


def test_a_token_is_shown_once_copied_and_revoked(sign_in_as: SignIn) -> None:
    page = sign_in_as("admin")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/sources/")
    page.get_by_role("link", name="Tokens for reporting failures").click()
    page.get_by_label("Source").fill("orders")
    page.get_by_role("button", name="Make a token").click()
    expect(page.get_by_role("alert")).to_contain_text("is read from its own tables")
    page.get_by_label("Source").fill("shop")
    page.get_by_label("What for").fill("cluster a")
    page.get_by_role("button", name="Make a token").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("1 token may report failures")
    page.get_by_role("button", name="Copy").click()
    secret = page.evaluate("navigator.clipboard.readText()")
    token = find_token(secret)
    assert token is not None
    page.goto("/sources/tokens/")
    expect(page.locator(f"#token-{token.pk}")).to_contain_text("Active")
    assert secret not in page.content()
    page.get_by_role("link", name=re.compile("^Revoke")).click()
    dialog = page.locator("#dialog")
    expect(dialog).to_contain_text("Whoever uses it is refused from now on")
    dialog.get_by_label("Reason").fill("it leaked")
    dialog.get_by_role("button", name=re.compile("^Revoke")).click()
    expect(page.locator(f"#token-{token.pk}")).to_contain_text("Revoked")
    assert Token.objects.get().revoked_by == "some-admin"
    assert AuditEntry.objects.get(action="token.revoke").reason == "it leaked"


def test_rows_that_nobody_tries_are_released(
    foreign: Foreign,  # noqa: F811
    sync: Sync,  # noqa: F811
    sign_in_as: SignIn,
) -> None:
    keys = foreign.add(2)
    for key in keys:
        foreign.set_status(key, "retrying")
    sync()
    ForeignRow.objects.update(retrying_since=timezone.now() - timedelta(minutes=20))
    page = sign_in_as("operator")
    expect(page.locator("main")).to_contain_text("Nobody seems to try 2 rows of orders")
    for address in ("/sources/orders/", "/sources/orders/release/confirm/"):
        assert not list(find_faults(page, address))
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/sources/orders/")
    expect(page.locator("main")).to_contain_text(
        "2 rows have said retrying for over 15 min; nobody seems to try"
    )
    page.get_by_role("link", name="Release…").click()
    dialog = page.locator("#dialog")
    expect(dialog).to_contain_text("The next look writes failed over retrying")
    dialog.get_by_label("Reason").fill("their worker crashed")
    dialog.get_by_role("button", name="Release 2 rows").click()
    expect(page.get_by_text("2 rows of orders will be released by the next look.")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("nobody seems to try")
    sync()
    assert {foreign.get_status(key)[0] for key in keys} == {"failed"}
    assert AuditEntry.objects.get(action="source.release").reason == "their worker crashed"
