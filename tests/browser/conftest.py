"""A real Chromium on the real console; a page that breaks its own Content-Security-Policy fails its test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from dashboard.management.commands.test import find_chromium
from tests.processes import running_web

# As root, in a container, without a screen, and without Chromium's own traffic.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PASSWORD = "a long password"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")
            item.add_marker(pytest.mark.django_db(transaction=True))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    # Longer than a live region's interval, on a busy machine.
    expect.set_options(timeout=45_000)
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright's loop makes Django think that it runs in asynchronous code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        yield browser
        browser.close()
        # Outside Playwright's loop Django has another connection, and this one would be in the way of the end.
        connection.close()


@pytest.fixture(scope="session")
def web(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One for all tests, which takes seconds to start."""
    with running_web(tmp_path_factory.mktemp("web") / "web.log", wsgi="tests.browser.wsgi") as address:
        yield address


@pytest.fixture
def console(web: str, transactional_db: None) -> str:
    """The address of a running console whose database is the test's."""
    return web


@pytest.fixture
def page(chromium: Browser, console: str) -> Iterator[Page]:
    """A page of a visitor who is not signed in; any complaint of the browser fails the test."""
    context = chromium.new_context(base_url=console, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(45_000)
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(complaint(message)) if is_complaint(message) else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert not complaints


def is_complaint(message: ConsoleMessage) -> bool:
    # The browser and htmx also note answers such as 401, and none at all, which tests ask for.
    asked_for = (
        "Failed to load resource",
        "htmx:sendError",
        "htmx:afterRequest",
        "Response Status Error Code",
    )
    return message.type in ("error", "warning") and not any(text in message.text for text in asked_for)


def complaint(message: ConsoleMessage) -> str:
    return f"{message.type}: {message.text}"


@pytest.fixture
def sign_in_as(page: Page, make_user: Callable[..., User]) -> Callable[[str], Page]:
    """Sign in through the login form as a new user of the role."""

    def sign_in(role: str) -> Page:
        make_user(f"some-{role}", role, PASSWORD)
        page.goto("/login/")
        page.get_by_label("User name").fill(f"some-{role}")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        # Written by the script: from here on keys and dialogs work.
        expect(page.locator("#live-state")).to_have_text("live")
        return page

    return sign_in
